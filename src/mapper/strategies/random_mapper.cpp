#include "mapper/request/refusal.h"
#include "mapper/sampling/sampling_run.h"
#include "mapper/strategies/sampling_mappers.h"

namespace sluice {

std::string RandomMapper::description() const {
  return "independent random mappings of the same space (Timeloop style)";
}

tl::expected<MapperResult, NoMapping> RandomMapper::map(const BoundProblem& problem,
                                                        const MapperOptions& options,
                                                        const MapperControl& control) const {
  if (auto no = refused_alone(*this, problem, options)) return tl::make_unexpected(std::move(*no));
  constexpr std::size_t kBatch = 64;
  sampling::SamplingRun run(problem, options, control);
  while (!run.record().over()) {
    run.batch(kBatch, [](std::size_t, sampling::Drawer& drawer) { return drawer.draw_mapping(); });
    run.record().report("drawing mappings");
  }
  return run.finish();
}

}  // namespace sluice
