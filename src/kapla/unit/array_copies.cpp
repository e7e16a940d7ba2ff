#include "array_copies.h"

#include <fmt/format.h>

#include <algorithm>

#include "sluice/support/checked.h"

namespace sluice::kapla {
namespace {

bool names(const StackDirective& stack, const std::string& dim) {
  return std::any_of(stack.shifts.begin(), stack.shifts.end(),
                     [&](const DimNumber& shift) { return shift.dim == dim; });
}

void multiply(std::int64_t& product, std::int64_t factor) {
  product = checked_multiply(product, factor);
}

void count_channels(const StackDirective& stack, const LayerShape& layer, Copies& copies) {
  const bool both = names(stack, "C") && names(stack, "K");
  if (names(stack, "C") && (!both || layer.is_gradient)) multiply(copies.channels_in, stack.count);
  if (names(stack, "K") && (!both || !layer.is_gradient))
    multiply(copies.channels_out, stack.count);
}

void count_stack(const StackDirective& stack, const LayerShape& layer, std::int64_t row_set,
                 Copies& copies) {
  if (names(stack, "S") || names(stack, "F")) return;
  if (names(stack, "Yi") || names(stack, "Yo"))
    return multiply(copies.rows, std::max<std::int64_t>(1, stack.count / row_set));
  if (names(stack, "XY")) multiply(copies.rows, stack.count);
  if (names(stack, "N")) multiply(copies.samples, stack.count);
  count_channels(stack, layer, copies);
}

}  // namespace

tl::expected<Copies, std::string> copies_of(const PassQuestion& question, std::int64_t row_set) {
  Copies copies;
  const LevelDirectives* registers = find_level(question.scheme.directives->layer, "REGF");
  if (registers == nullptr) return tl::unexpected(std::string("the directives have no level REGF"));
  for (const StackDirective& stack : registers->stacks)
    count_stack(stack, question.layer, row_set, copies);
  const std::int64_t elements = question.run.machine.array.size();
  std::int64_t all = 1;
  for (const std::int64_t count :
       {copies.samples, copies.channels_in, copies.channels_out, copies.rows})
    multiply(all, count);
  if (all <= elements) return copies;
  return tl::unexpected(fmt::format(
      "the stacks of REGF make {} copies of a pass; the array has {} elements", all, elements));
}

}  // namespace sluice::kapla
