#include "interrupt.h"

namespace sluice::cli {
namespace {

// A signal handler can reach nothing but a global; this is the only one of the program.
std::atomic<bool> interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free, "needed in a signal handler");

extern "C" void note_interrupt(int) { interrupted.store(true); }

}  // namespace

InterruptGuard::InterruptGuard() {
  interrupted.store(false);
  struct sigaction action {};
  action.sa_handler = note_interrupt;
  // SA_RESETHAND: the second signal has its usual effect and ends the process.
  action.sa_flags = SA_RESETHAND;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, &previous_interrupt_);
  sigaction(SIGTERM, &action, &previous_terminate_);
}

InterruptGuard::~InterruptGuard() {
  sigaction(SIGINT, &previous_interrupt_, nullptr);
  sigaction(SIGTERM, &previous_terminate_, nullptr);
}

const std::atomic<bool>& InterruptGuard::flag() const { return interrupted; }

}  // namespace sluice::cli
