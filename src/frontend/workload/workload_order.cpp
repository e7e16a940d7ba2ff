#include "frontend/workload/workload_order.h"

#include <fmt/format.h>

#include <algorithm>

namespace sluice {
namespace {

class OrderChecker {
 public:
  OrderChecker(ReadContext& context, const WorkloadSource& source, const Workload& workload)
      : context_(context), source_(source), workload_(workload) {}

  void run() {
    find_makers();
    for (std::size_t reader = 0; reader < workload_.einsums.size(); ++reader) {
      const Einsum& einsum = workload_.einsums[reader];
      for (std::size_t a = 0; a + 1 < einsum.accesses.size(); ++a) {
        check_read(reader, a);
        check_ways(reader, a);
      }
    }
  }

 private:
  void error(std::size_t einsum, std::size_t access, std::string message, std::string hint = {}) {
    const SourcePlace place = source_.einsums[einsum].accesses[access].place;
    context_.error_inside(*place.node, place.offset, std::move(message), std::move(hint));
  }

  const std::string& name(std::size_t einsum) const { return workload_.einsums[einsum].name; }

  void find_makers() {
    makers_.resize(workload_.tensors.size());
    for (std::size_t e = 0; e < workload_.einsums.size(); ++e)
      makers_[workload_.einsums[e].output().tensor.index()].push_back(e);
    for (std::size_t e = 0; e < workload_.einsums.size(); ++e) {
      const Einsum& einsum = workload_.einsums[e];
      if (einsum.is_copy_operation && makers_[einsum.output().tensor.index()].size() > 1)
        error(e, einsum.accesses.size() - 1,
              fmt::format("the copy {} makes a part of {}, which other Einsums make, too", name(e),
                          workload_[einsum.output().tensor].name),
              fmt::format("let the Einsum that makes {} write there itself",
                          workload_[einsum.accesses.front().tensor].name));
    }
  }

  void check_read(std::size_t reader, std::size_t a) {
    const TensorAccess& read = workload_.einsums[reader].accesses[a];
    const std::vector<std::size_t>& makers = makers_[read.tensor.index()];
    if (makers.empty() || makers.back() < reader) return;
    const std::string& tensor = workload_[read.tensor].name;
    if (makers.size() > 1) return check_read_of_parts(reader, a, makers);
    const std::size_t producer = makers.front();
    if (is_earlier_slice(read, workload_.einsums[producer].output())) return;
    if (producer == reader)
      error(reader, a,
            fmt::format("the Einsum {} reads {}, which it writes itself", name(reader), tensor),
            "a recurrence reads an earlier slice, as in 'T[i+1] = T[i] + X[i]'");
    else if (depends_on(producer, reader))
      error(reader, a,
            fmt::format("the Einsums {} and {} wait for each other: {} needs {}", name(reader),
                        name(producer), name(reader), tensor));
    else
      error(reader, a,
            fmt::format("the Einsum {} reads {} before {} writes it", name(reader), tensor,
                        name(producer)),
            fmt::format("write {} before {}", name(producer), name(reader)));
  }

  /// Tiles of several accesses are one where constants alone differ; no rule says what tiles of
  /// others have in common.
  void check_ways(std::size_t reader, std::size_t a) {
    const std::vector<TensorAccess>& accesses = workload_.einsums[reader].accesses;
    const auto walks_otherwise = [&](const TensorAccess& other) {
      return other.tensor == accesses[a].tensor && !other.is_output &&
             !std::equal(other.projection.begin(), other.projection.end(),
                         accesses[a].projection.begin(), accesses[a].projection.end(),
                         [](const AffineExpression& x, const AffineExpression& y) {
                           return x.terms == y.terms;
                         });
    };
    const auto end = accesses.begin() + static_cast<std::ptrdiff_t>(a);
    if (std::none_of(accesses.begin(), end, walks_otherwise)) return;
    const std::string& tensor = workload_[accesses[a].tensor].name;
    error(reader, a,
          fmt::format("the Einsum {} reads {} along other variables a second time", name(reader),
                      tensor),
          fmt::format("let it read a copy: an Einsum `{0}_2[...] = {0}[...]` before it, or an "
                      "input {0}_2 of its own",
                      tensor));
  }

  /// Of what several Einsums make nothing is read before all of it is there.
  void check_read_of_parts(std::size_t reader, std::size_t a,
                           const std::vector<std::size_t>& makers) {
    const std::string& tensor = workload_[workload_.einsums[reader].accesses[a].tensor].name;
    const bool is_maker = std::find(makers.begin(), makers.end(), reader) != makers.end();
    error(reader, a,
          is_maker ? fmt::format("the Einsum {} reads {}, of which it makes a part, as does {}",
                                 name(reader), tensor,
                                 name(makers.front() == reader ? makers.back() : makers.front()))
                   : fmt::format("the Einsum {} reads {} before {} makes its part of it",
                                 name(reader), tensor, name(makers.back())),
          "who reads a tensor that several Einsums make comes after all of them");
  }

  /// `T[i]` where `T[i+1]` is written.
  static bool is_earlier_slice(const TensorAccess& read, const TensorAccess& written) {
    for (std::size_t i = 0; i < read.projection.size(); ++i) {
      const AffineExpression& r = read.projection[i];
      const AffineExpression& w = written.projection[i];
      if (w.terms.size() == 1 && r.terms == w.terms && r.constant < w.constant) return true;
    }
    return false;
  }

  bool depends_on(std::size_t einsum, std::size_t target) const {
    std::vector<std::size_t> open = {einsum};
    std::vector<bool> seen(workload_.einsums.size());
    while (!open.empty()) {
      const std::size_t current = open.back();
      open.pop_back();
      if (current == target) return true;
      if (seen[current]) continue;
      seen[current] = true;
      for (const TensorAccess& access : workload_.einsums[current].accesses) {
        const std::vector<std::size_t>& makers = makers_[access.tensor.index()];
        if (!access.is_output) open.insert(open.end(), makers.begin(), makers.end());
      }
    }
    return false;
  }

  ReadContext& context_;
  const WorkloadSource& source_;
  const Workload& workload_;
  std::vector<std::vector<std::size_t>> makers_;  ///< per tensor
};

}  // namespace

void check_order(ReadContext& context, const WorkloadSource& source, const Workload& workload) {
  OrderChecker(context, source, workload).run();
}

}  // namespace sluice
