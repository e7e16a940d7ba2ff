#pragma once

#include <stdexcept>
#include <string>

namespace sluice {

/// A bug in Sluice itself (never a user's mistake). The command line turns it into exit status 70.
class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

/// A count left the range of 64-bit integers. The command line reports it as exit status 2.
class OverflowError : public std::overflow_error {
 public:
  using std::overflow_error::overflow_error;
};

[[noreturn]] void fail_internal_check(const char* condition, const char* file, int line,
                                      const std::string& message);

}  // namespace sluice

/// Internal invariant, checked in every build.
#define SLUICE_CHECK(condition, message)                                                        \
  do {                                                                                          \
    if (!(condition)) ::sluice::fail_internal_check(#condition, __FILE__, __LINE__, (message)); \
  } while (false)
