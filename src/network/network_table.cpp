#include "sluice/network/network_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>

#include "sluice/support/csv.h"
#include "sluice/support/library_dir.h"

namespace sluice {
namespace fs = std::filesystem;
namespace {

struct KindName {
  const char* name;
  LayerKind kind;
};
constexpr std::array<KindName, 7> kKindNames = {{{"input", LayerKind::kInput},
                                                 {"conv", LayerKind::kConvolution},
                                                 {"fc", LayerKind::kFullyConnected},
                                                 {"dwconv", LayerKind::kDepthwise},
                                                 {"pool", LayerKind::kPool},
                                                 {"eltwise", LayerKind::kElementwise},
                                                 {"local", LayerKind::kLocal}}};

/// Reads the rows of one table; collects every mistake.
class NetworkReader {
 public:
  explicit NetworkReader(const CsvTable& table) : table_(table) {}

  Result<NeuralNetwork> read() {
    network_.name = fs::path(table_.file).stem().string();
    for (const CsvRow& row : table_.rows) read_row(row);
    if (table_.rows.empty()) {
      Diagnostic empty;
      empty.location = {table_.file, 1, 0};
      empty.message = "the network has no layers";
      mistakes_.push_back(empty);
    }
    if (!mistakes_.empty()) return tl::unexpected(std::move(mistakes_));
    return std::move(network_);
  }

 private:
  const std::string& cell(const CsvRow& row, const char* column) const {
    return row.cells[*table_.find_column(column)];
  }

  void complain(const CsvRow& row, const std::string& message, const std::string& hint = "") {
    mistakes_.push_back(table_.mistake(row, message, hint));
  }

  void read_row(const CsvRow& row) {
    const std::size_t n_mistakes = mistakes_.size();
    NetworkLayer layer;
    layer.name = cell(row, "layer");
    layer.line = row.line;
    if (layer.name.empty()) complain(row, "a layer needs a name");
    if (!places_.emplace(layer.name, network_.layers.size()).second)
      complain(row, fmt::format("a second layer is named `{}`", layer.name));
    read_type(row, layer);
    if (!is_input(layer)) layer.channels_in = number(row, "C");
    layer.channels_out = number(row, "K");
    layer.height = number(row, "HO");
    layer.width = number(row, "WO");
    layer.window_width = number(row, "R");
    layer.window_height = number(row, "S");
    layer.stride = number(row, "stride");
    read_previous(row, layer);
    const bool is_read = mistakes_.size() == n_mistakes;
    if (is_read)
      check_shape(row, layer);
    else
      unread_.insert(network_.layers.size());
    network_.layers.push_back(std::move(layer));
  }

  void read_type(const CsvRow& row, NetworkLayer& layer) {
    std::string type = cell(row, "type");
    const auto ends_with = [&](const std::string& ending) {
      const bool ends = type.size() > ending.size() &&
                        type.compare(type.size() - ending.size(), ending.size(), ending) == 0;
      if (ends) type.resize(type.size() - ending.size());
      return ends;
    };
    if (ends_with("_bd"))
      layer.gradient = Gradient::kOfInput;
    else if (ends_with("_bw"))
      layer.gradient = Gradient::kOfWeights;
    const auto found = std::find_if(kKindNames.begin(), kKindNames.end(),
                                    [&](const KindName& known) { return type == known.name; });
    if (found != kKindNames.end()) {
      layer.kind = found->kind;
      if (layer.gradient == Gradient::kOfWeights && !has_weights(layer.kind))
        complain(row, fmt::format("`{}`: layers of this type have no weights", cell(row, "type")),
                 "conv_bw, fc_bw, dwconv_bw");
    } else
      complain(row, fmt::format("`{}` is no type of layer", cell(row, "type")),
               "input, conv, fc, dwconv, pool, eltwise, local; gradients end in _bd or _bw");
  }

  std::int64_t number(const CsvRow& row, const char* column) {
    const std::string& text = cell(row, column);
    std::int64_t value = 0;
    const char* end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, value);
    constexpr std::int64_t kMost = 1'000'000'000;
    if (error == std::errc() && rest == end && value >= 1 && value <= kMost) return value;
    complain(row, fmt::format("{} is `{}`; it must be a whole number from 1 to 1e9", column, text));
    return 1;
  }

  void read_previous(const CsvRow& row, NetworkLayer& layer) {
    const std::string& text = cell(row, "prevs");
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = std::min(text.find('|', begin), text.size());
      const std::string name = text.substr(begin, end - begin);
      const auto found = places_.find(name);
      if (found == places_.end() || name == layer.name)
        complain(row,
                 fmt::format("`{}` reads `{}`, which no earlier row defines", layer.name, name),
                 "each layer stands after those that it reads");
      else
        layer.previous.push_back(found->second);
      begin = end + 1;
    }
    if (text.empty() != (cell(row, "type") == "input"))
      complain(row, !text.empty()
                        ? fmt::format("the input `{}` reads another layer", layer.name)
                        : fmt::format("`{}` reads no layer: `prevs` is empty", layer.name));
  }

  void check_shape(const CsvRow& row, const NetworkLayer& layer) {
    if (is_input(layer)) return check_input(row, layer);
    check_kind(row, layer);
    if (input_height(layer) < 1 || input_width(layer) < 1)
      complain(row, fmt::format("the window of `{}` ({} × {}) is larger than its plane ({} × {})",
                                layer.name, layer.window_width, layer.window_height, layer.width,
                                layer.height));
    // What nobody could read says nothing about who reads it.
    for (const std::size_t previous : layer.previous)
      if (unread_.count(previous) > 0) return;
    check_channels(row, layer);
    for (const std::size_t previous : layer.previous)
      check_plane(row, layer, network_.layers[previous]);
    check_planes_alike(row, layer);
  }

  void check_input(const CsvRow& row, const NetworkLayer& layer) {
    if (!cell(row, "C").empty())
      complain(row,
               fmt::format("the input `{}` reads nothing, but C is {}", layer.name, cell(row, "C")),
               "K is its channels; C stays empty");
    if (has_window(layer))
      complain(row, fmt::format("the input `{}` has a window", layer.name),
               "R, S and stride of an input are 1");
  }

  static bool has_window(const NetworkLayer& layer) {
    return layer.window_height != 1 || layer.window_width != 1 || layer.stride != 1;
  }

  void check_kind(const CsvRow& row, const NetworkLayer& layer) {
    const std::int64_t less = std::min(layer.channels_in, layer.channels_out);
    const std::int64_t more = std::max(layer.channels_in, layer.channels_out);
    const bool joins = layer.kind == LayerKind::kElementwise || layer.kind == LayerKind::kLocal;
    const bool keeps = layer.kind == LayerKind::kDepthwise || layer.kind == LayerKind::kPool;
    if (joins && more % less != 0)
      complain(row, fmt::format("`{}` joins {} channels into {}: not a whole number of operands",
                                layer.name, layer.channels_in, layer.channels_out));
    if (keeps && less != more)
      complain(row, fmt::format("`{}` reads {} channels and writes {}; they must be equal",
                                layer.name, layer.channels_in, layer.channels_out));
    if (joins && has_window(layer))
      complain(row,
               fmt::format("`{}` has a window of {} × {} with stride {}; layers of this type have "
                           "none",
                           layer.name, layer.window_width, layer.window_height, layer.stride),
               "R, S and stride are 1");
    const bool is_plane = layer.height > 1 || layer.width > 1;
    if (layer.kind == LayerKind::kFullyConnected && layer.gradient == Gradient::kNone && is_plane)
      complain(row,
               fmt::format("`{}` writes {} × {} values a channel; an fc layer writes one",
                           layer.name, layer.height, layer.width),
               "conv is the type of layers whose window slides");
  }

  /// Planes that a layer's windows can stand on, so many and no more: with padding of less than a
  /// window, and with rows at the end that no window reaches.
  struct Extents {
    std::int64_t least, most;
    bool have(std::int64_t extent) const { return least <= extent && extent <= most; }
  };
  static Extents extents(std::int64_t windows, std::int64_t stride, std::int64_t read,
                         bool is_gradient) {
    const std::int64_t apart = windows * stride;
    if (is_gradient) return {std::min(apart, read), std::max(apart, read)};
    return {apart - stride + 1, read + stride - 1};
  }

  void check_plane(const CsvRow& row, const NetworkLayer& layer, const NetworkLayer& previous) {
    const bool is_gradient = layer.gradient != Gradient::kNone;
    const Extents rows = extents(layer.height, layer.stride, input_height(layer), is_gradient);
    const Extents columns = extents(layer.width, layer.stride, input_width(layer), is_gradient);
    if (rows.have(previous.height) && columns.have(previous.width)) return;
    complain(row,
             fmt::format("`{}` reads a plane of {} × {} (height × width), but `{}` writes {} × {}: "
                         "padding does not make up for that",
                         layer.name, input_height(layer), input_width(layer), previous.name,
                         previous.height, previous.width),
             fmt::format("heights that fit are {} to {}, widths {} to {}", rows.least, rows.most,
                         columns.least, columns.most));
  }

  /// Side by side or operand by operand: their rows and columns are the same.
  void check_planes_alike(const CsvRow& row, const NetworkLayer& layer) {
    const NetworkLayer& first = network_.layers[layer.previous.front()];
    for (const std::size_t other : layer.previous) {
      const NetworkLayer& previous = network_.layers[other];
      if (previous.height == first.height && previous.width == first.width) continue;
      complain(row, fmt::format("`{}` reads `{}` ({} × {}) together with `{}` ({} × {}); their "
                                "planes must be alike",
                                layer.name, previous.name, previous.height, previous.width,
                                first.name, first.height, first.width));
      return;
    }
  }

  /// What the previous layers write together is what this one reads.
  void check_channels(const CsvRow& row, const NetworkLayer& layer) {
    std::int64_t written = 0;
    for (const std::size_t previous : layer.previous)
      written += network_.layers[previous].channels_out;
    if (written != layer.channels_in)
      complain(row, fmt::format("`{}` reads {} channels, but {} are written by `{}`", layer.name,
                                layer.channels_in, written, cell(row, "prevs")));
  }

  const CsvTable& table_;
  NeuralNetwork network_;
  std::map<std::string, std::size_t> places_;
  std::set<std::size_t> unread_;  ///< layers whose rows have mistakes
  Diagnostics mistakes_;
};

Diagnostics unknown_network(const std::string& name) {
  Diagnostic diagnostic;
  diagnostic.message = fmt::format("there is no network `{}`", name);
  const std::vector<std::string> names = network_names();
  const std::string near = nearest_name(name, names);
  diagnostic.hint = near.empty() ? fmt::format("there are {}", fmt::join(names, ", "))
                                 : fmt::format("did you mean `{}`?", near);
  return {diagnostic};
}

}  // namespace

Result<NeuralNetwork> read_network_table(const std::string& text, const std::string& file) {
  const Result<CsvTable> table =
      read_csv(text, file, {"layer", "type", "C", "K", "HO", "WO", "R", "S", "stride", "prevs"});
  if (!table) return tl::unexpected(table.error());
  return NetworkReader(*table).read();
}

std::vector<std::string> network_names() {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(library_dir() / "networks", error))
    if (entry.path().extension() == ".csv") names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

Result<NeuralNetwork> load_network(const std::string& name) {
  const std::vector<std::string> names = network_names();
  if (std::find(names.begin(), names.end(), name) == names.end())
    return tl::unexpected(unknown_network(name));
  const fs::path path = library_dir() / "networks" / (name + ".csv");
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  return read_network_table(text, path.string());
}

}  // namespace sluice
