#include "sluice/kapla/run.h"

namespace sluice::kapla {

bool is_exhaustive(const Run& run) { return run.solver.rfind("exhaustive", 0) == 0; }

Compatibility kapla_compatibility(const std::string& solver) {
  Compatibility compatibility;
  compatibility.floor_dram_words = true;
  compatibility.window_unit_time = solver == "KAPLA";
  compatibility.one_operand_eltwise = true;
  compatibility.depthwise_backward_unswapped = true;
  compatibility.searched_pool_unswapped = true;
  compatibility.searched_local_weights = true;
  compatibility.regf_write_on_o = true;
  return compatibility;
}

}  // namespace sluice::kapla
