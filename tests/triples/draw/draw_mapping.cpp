#include "triples/draw/tree_draw.h"

namespace sluice::triples {
namespace {

class MappingDraw : TreeDraw {
 public:
  MappingDraw(Dice& dice, Triple& triple, const Workload& workload, const Kinds& kinds)
      : TreeDraw(dice, triple, workload), kinds_(kinds) {
    rotations_percent_ = kinds.rotations ? 50 : 0;
  }

  void run() {
    std::vector<NodeSpec>& root = triple_.nodes;
    draw_homes();
    if (kinds_.ports) port_loops(root);
    back_outside(root);
    if (w_.einsums.size() == 1) {
      nest(root, 0);
    } else {
      fused(root);
    }
    if (dice_.chance(12)) spoil();
  }

 private:
  void draw_homes() {
    // A recurrence that leaves nothing inside its steps.
    const bool all_outside = kinds_.outer_cycles && has_states() && dice_.chance(80);
    for (std::size_t t = 0; t < w_.tensors.size(); ++t) {
      Home home = Home::kOutside;
      if (roles_.is_intermediate(TensorId(t)) && !all_outside) {
        const auto draw = dice_.below(10);
        home = draw < 3   ? Home::kOutside
               : draw < 5 ? Home::kBufferAbove
               : draw < 9 ? Home::kBufferBelow
                          : Home::kBranches;
      }
      homes_.push_back(home);
    }
  }

  bool has_states() const {
    for (std::size_t t = 0; t < w_.tensors.size(); ++t)
      for (EinsumId reader : roles_.consumers[t])
        if (roles_.is_made(TensorId(t)) && !(roles_.makers[t].back() < reader)) return true;
    return false;
  }

  void fused(std::vector<NodeSpec>& root) {
    const auto above = [&] {
      if (dice_.chance(20)) private_above(root);
    };
    const bool spread = !component("GB").spatial.empty() && dice_.chance(50);
    const std::int64_t loops = dice_.any(std::vector<std::int64_t>{0, 1, 1, 1, 2});
    std::int64_t outer = dice_.chance(30) ? loops : 0;
    for (std::int64_t l = 0; l < outer; ++l) shared_loop(root, false);
    if (spread) shared_loop(root, true);
    backing_in_buffer(root, Home::kBufferAbove);
    above();
    for (std::int64_t l = outer; l < loops; ++l) {
      shared_loop(root, false);
      above();
    }
    backing_in_buffer(root, Home::kBufferBelow);
    above();
    NodeSpec split;
    split.kind = NodeSpec::Kind::kSequential;
    const std::size_t n = w_.einsums.size();
    const bool nested = n > 2 && dice_.chance(20);
    for (std::size_t e = 0; e < n; ++e) {
      if (nested && e == n - 2) {
        NodeSpec inner;
        inner.kind = NodeSpec::Kind::kSequential;
        inner.children = {branch(e), branch(e + 1)};
        split.children.push_back({inner});
        break;
      }
      split.children.push_back(branch(e));
    }
    root.push_back(split);
  }

  std::vector<NodeSpec> branch(std::size_t e) {
    std::vector<NodeSpec> list;
    dice_.chance(50);
    for (TensorId tensor : tensors_of(w_.einsums[e]))
      if (homes_[tensor.index()] == Home::kBranches) {
        list.push_back(storage("GB", {w_[tensor].name}));
        held_[e].insert("GB/" + w_[tensor].name);
      }
    nest(list, e);
    return list;
  }

  const Kinds& kinds_;
};

}  // namespace

void draw_mapping(Dice& dice, Triple& triple, const Workload& workload, const Kinds& kinds) {
  MappingDraw(dice, triple, workload, kinds).run();
}

}  // namespace sluice::triples
