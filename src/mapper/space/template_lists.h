#pragma once

#include <cstdint>
#include <vector>

#include "template.h"

namespace sluice::fused {

/// Whether two Einsums of the same problem (same_problem) have the same templates without
/// constraints: what memories keep of them goes by no names.
bool same_templates(const BoundProblem& problem, EinsumId a, EinsumId b);

/// The templates of every Einsum of a workload (enumerate_templates). Einsums that are alike but
/// for names share one list: a network of many equal layers has few.
class TemplateLists {
 public:
  TemplateLists() = default;
  TemplateLists(const BoundProblem& problem, const std::vector<EinsumShape>& shapes,
                const MapperOptions& options, const TemplateLimits& limits = {});

  const std::vector<Template>& operator[](std::size_t einsum) const {
    return lists_[list_of_[einsum]];
  }
  /// The number of a template in an Einsum's list, to which it is added where it is not there yet.
  std::uint32_t add(std::size_t einsum, Template templ);
  /// Einsums of one list have the same pmappings, tile constraints aside (same_problem); the
  /// converse need not hold.
  std::uint32_t list_of(std::size_t einsum) const { return list_of_[einsum]; }
  const std::vector<std::vector<Template>>& lists() const { return lists_; }
  /// Per list: its first Einsum.
  const std::vector<std::size_t>& first_einsums() const { return first_; }

 private:
  std::vector<std::vector<Template>> lists_;
  std::vector<std::uint32_t> list_of_;  // per Einsum
  std::vector<std::size_t> first_;      // per list
};

}  // namespace sluice::fused
