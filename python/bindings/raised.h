#pragma once

#include <atomic>
#include <exception>
#include <mutex>
#include <string>

namespace sluice::python {

/// The first exception that Python code raised which the library called: mappers, policies and
/// component classes. It crosses no line of the library: whoever called in asks afterwards.
class Raised {
 public:
  /// In a catch block: keeps the exception that is being handled. `who`: "the mapper 'greedy'".
  void keep(const std::string& who);
  bool happened() const { return happened_.load(); }
  /// Raises sluice.ExtensionError, with the exception as its cause, where there was one, and
  /// forgets it: its traceback holds whoever holds this. Needs the interpreter's lock.
  void raise_again();

  /// While alive, this thread runs code in Python that may take long: a mapper. Needs the lock.
  class Running {
   public:
    explicit Running(Raised& raised);
    ~Running() { raised_.thread_ = 0; }
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;

   private:
    Raised& raised_;
  };
  /// Raises KeyboardInterrupt in that code, where there is such. Needs the lock.
  void interrupt_running();

 private:
  std::mutex mutex_;
  std::atomic<bool> happened_{false};
  std::string who_;
  std::exception_ptr exception_;
  std::atomic<unsigned long> thread_{0};  ///< of Running; 0: none
};

}  // namespace sluice::python
