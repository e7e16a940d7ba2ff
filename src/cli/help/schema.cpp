#include "cli/help/schema.h"

#include <ostream>

#include "sluice/report/spec_schema_json.h"
#include "sluice/sweep/design.h"
#include "sluice/sweep/sweep.h"

namespace sluice::cli {

const std::vector<std::string>& schema_kinds() {
  static const std::vector<std::string> kinds = {"workload", "arch",   "mapping", "constraints",
                                                 "sweep",    "design", "result"};
  return kinds;
}

ExitCode run_schema(const std::string& kind, const Console& console) {
  console.out << (kind == "result"   ? result_schema_text()
                  : kind == "sweep"  ? sweep_schema_text()
                  : kind == "design" ? design_schema_text()
                                     : spec_schema_text(kind));
  return ExitCode::kSuccess;
}

}  // namespace sluice::cli
