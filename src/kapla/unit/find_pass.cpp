#include "find_pass.h"

#include <fmt/format.h>

#include "exhaustive_passes.h"
#include "solver_passes.h"

namespace sluice::kapla {
namespace {

PassAnswer pass_as_published(const PassQuestion& question) {
  if (is_exhaustive(question.run)) return exhaustive_pass(question);
  if (!question.scheme.directives)
    return tl::unexpected(fmt::format("the scheme has no `directives`; those of solver `{}` have",
                                      question.run.solver));
  const bool rows = question.run.mapping == ArrayMapping::kRowStationary;
  if (question.scheme.directives->is_searched)
    return rows ? searched_row_stationary(question) : searched_systolic(question);
  return rows ? solved_row_stationary(question) : solved_systolic(question);
}

/// The passes count one of several operands.
void read_all_operands(const LayerShape& layer, UnitPass& pass) {
  const Operand joined = layer.is_gradient ? kOutput : kInput;
  for (const Memory memory : {kDram, kGlobalBuffer, kArrayBus})
    pass.access[memory][joined] *= static_cast<double>(layer.operands);
}

}  // namespace

PassAnswer find_pass(const PassQuestion& question) {
  PassAnswer pass = pass_as_published(question);
  if (pass && !question.run.compatibility.one_operand_eltwise)
    read_all_operands(question.layer, *pass);
  return pass;
}

}  // namespace sluice::kapla
