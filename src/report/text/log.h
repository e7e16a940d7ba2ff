#pragma once

#include <memory>
#include <string>

namespace spdlog {
class logger;
}

namespace sluice::cli {

/// What the program is doing, for `--verbose`: lines on standard error, each with the time and the
/// milliseconds since the one before. A default-made log says nothing.
class Log {
 public:
  Log() = default;
  static Log to_standard_error();

  void note(const std::string& text) const;

 private:
  std::shared_ptr<spdlog::logger> logger_;
};

}  // namespace sluice::cli
