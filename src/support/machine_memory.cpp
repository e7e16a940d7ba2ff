#include "sluice/support/machine_memory.h"

#include <sys/resource.h>
#include <unistd.h>

#include <fstream>

namespace sluice {
namespace {

double page_size() { return static_cast<double>(sysconf(_SC_PAGESIZE)); }

}  // namespace

double bytes_of_machine() { return static_cast<double>(sysconf(_SC_PHYS_PAGES)) * page_size(); }

double resident_bytes() {
  std::ifstream statm("/proc/self/statm");  // in pages: of the program, resident
  double all = 0, resident = 0;
  return statm >> all >> resident ? resident * page_size() : 0;
}

double peak_resident_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) * 1024;
}

}  // namespace sluice
