#include "log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

namespace sluice::cli {

Log Log::to_standard_error() {
  Log log;
  log.logger_ =
      std::make_shared<spdlog::logger>("sluice", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  // %i: milliseconds since the previous message.
  log.logger_->set_pattern("[%T.%e, +%o ms] %v");
  return log;
}

void Log::note(const std::string& text) const {
  if (logger_) logger_->info(text);
}

}  // namespace sluice::cli
