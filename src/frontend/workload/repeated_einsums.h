#pragma once

#include <map>
#include <string>
#include <vector>

#include "frontend/workload/workload_source.h"
#include "frontend/yaml/read_context.h"

namespace sluice {

/// `repeat: {times: N, carry: {X: Y}, shared: [W]}`: a layer of Einsums, N times one after the
/// other.
class RepeatedEinsums {
 public:
  /// Mistakes in `node`, the value of `repeat`, are reported.
  RepeatedEinsums(ReadContext& context, const YamlNode& node);

  /// The Einsums of all layers. What the layer makes or reads has the layer's number behind its
  /// name, but for shared tensors, those that an Einsum of `before` makes, and carried ones: these
  /// are what the layer before makes. Of one layer all names stay. Mistakes are reported.
  std::vector<EinsumSource> unfold(const std::vector<EinsumSource>& layer,
                                   const std::vector<EinsumSource>& before);

  /// What each tensor that the layer makes is called in each of them.
  const std::map<std::string, std::vector<std::string>>& copies() const { return copies_; }

 private:
  struct Carried {
    std::string made;
    const YamlNode* made_place = nullptr;
    const YamlNode* read_place = nullptr;
  };

  void check(const std::vector<EinsumSource>& layer);
  std::string name_in(std::size_t number, const std::string& tensor) const;
  bool is_too_long(std::size_t n_einsums);

  ReadContext& context_;
  const YamlNode& node_;
  std::int64_t times_ = 1;
  std::map<std::string, Carried> carried_;         ///< by what the layer reads
  std::map<std::string, const YamlNode*> shared_;  ///< with their places
  std::map<std::string, bool> is_made_;            ///< all tensors of the layer
  std::map<std::string, std::vector<std::string>> copies_;
};

/// The Einsum with the tensors that `renamed` knows under their new names.
EinsumSource with_tensors_renamed(EinsumSource einsum,
                                  const std::map<std::string, std::string>& renamed);

}  // namespace sluice
