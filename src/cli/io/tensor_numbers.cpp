#include "tensor_numbers.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "failure.h"
#include "report/document/result_document.h"
#include "report/text/text_bars.h"
#include "text_of_file.h"

namespace sluice::cli {
namespace {

using Lists = nlohmann::ordered_json;

Lists number_to_json(double value) {
  if (std::isfinite(value)) return value;
  if (std::isnan(value)) return "nan";
  return value > 0 ? "inf" : "-inf";
}

/// The numbers of ranks[rank] and all after it, from `values[next]` on.
Lists nested(const std::vector<std::int64_t>& sizes, std::size_t rank,
             const std::vector<double>& values, std::size_t& next) {
  if (rank == sizes.size()) return number_to_json(values[next++]);
  Lists list = Lists::array();
  for (std::int64_t i = 0; i < sizes[rank]; ++i)
    list.push_back(nested(sizes, rank + 1, values, next));
  return list;
}

std::vector<std::int64_t> sizes_of(const Workload& workload, TensorId tensor) {
  std::vector<std::int64_t> sizes;
  for (RankId rank : workload[tensor].ranks) sizes.push_back(workload[rank].size);
  return sizes;
}

/// Reads the numbers of one tensor.
class NumberReader {
 public:
  NumberReader(const std::string& file, const Workload& workload, TensorId tensor)
      : file_(file), name_(workload[tensor].name), sizes_(sizes_of(workload, tensor)) {}

  std::vector<double> read(const Lists& lists) {
    add(lists, 0);
    return std::move(values_);
  }

 private:
  void add(const Lists& lists, std::size_t rank) {
    if (rank == sizes_.size()) return values_.push_back(number(lists));
    if (!lists.is_array() || lists.size() != static_cast<std::size_t>(sizes_[rank]))
      throw Failure(
          ExitCode::kBadInput,
          fmt::format("{}: {} has another shape than [{}]", file_, name_, fmt::join(sizes_, ", ")),
          fmt::format("rank {} has {}", rank + 1,
                      lists.is_array() ? fmt::format("{} entries", lists.size()) : "no list"));
    for (const Lists& list : lists) add(list, rank + 1);
  }

  double number(const Lists& value) const {
    if (value.is_number()) return value.get<double>();
    if (value == "inf") return std::numeric_limits<double>::infinity();
    if (value == "-inf") return -std::numeric_limits<double>::infinity();
    throw Failure(ExitCode::kBadInput,
                  fmt::format("{}: {} holds {}, which is no number", file_, name_, value.dump()));
  }

  const std::string& file_;
  std::string name_;
  std::vector<std::int64_t> sizes_;
  std::vector<double> values_;
};

TensorId input_called(const std::string& name, const std::string& file, const Workload& workload,
                      const TensorRoles& roles) {
  const auto tensor = find_tensor(workload, name);
  std::vector<std::string> inputs;
  for (std::size_t t = 0; t < workload.tensors.size(); ++t)
    if (!roles.is_made(TensorId(t))) inputs.push_back(workload.tensors[t].name);
  const std::string hint = fmt::format("inputs are {}", fmt::join(inputs, ", "));
  if (!tensor)
    throw Failure(ExitCode::kBadInput, fmt::format("{}: there is no tensor {}", file, name), hint);
  if (roles.is_made(*tensor))
    throw Failure(ExitCode::kBadInput,
                  fmt::format("{}: {} is no input: an Einsum makes it", file, name), hint);
  return *tensor;
}

Lists parsed(const std::string& text, const std::string& origin) {
  Lists document = Lists::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!document.is_object())
    throw Failure(ExitCode::kBadInput, fmt::format("{} is no JSON object of tensors", origin),
                  "write {\"A\": [[1, 2], [3, 4]]}");
  return document;
}

}  // namespace

std::string tensor_numbers_text(const Workload& workload, const TensorValues& values) {
  Lists document = Lists::object();
  for (const auto& [tensor, numbers] : values) {
    std::size_t next = 0;
    document[workload[tensor].name] = nested(sizes_of(workload, tensor), 0, numbers, next);
  }
  return document.dump() + "\n";
}

TensorValues read_input_numbers(const std::string& file, const Workload& workload) {
  return input_numbers(text_of_file(file), file, workload);
}

TensorValues input_numbers(const std::string& text, const std::string& origin,
                           const Workload& workload) {
  const TensorRoles roles = tensor_roles(workload);
  TensorValues values;
  const Lists document = parsed(text, origin);
  for (const auto& [name, lists] : document.items()) {
    const TensorId tensor = input_called(name, origin, workload, roles);
    values[tensor] = NumberReader(origin, workload, tensor).read(lists);
  }
  return values;
}

}  // namespace sluice::cli
