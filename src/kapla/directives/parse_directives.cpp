#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "sluice/kapla/directives.h"
#include "tensor_marks.h"
#include "token.h"

namespace sluice::kapla {
namespace {

constexpr std::int64_t kLargestNumber = 1'000'000'000'000;

/// A mistake that leaves nothing to go on from in this directive.
struct DirectiveMistake {
  Diagnostic diagnostic;
};

/// Reads layers from tokens; after a mistake it goes on with the next directive.
class DirectiveParser {
 public:
  DirectiveParser(const std::string& text, const std::string& file)
      : file_(file), tokens_(tokens_of(text)) {}

  Result<std::vector<LayerDirectives>> parse() {
    while (here().kind != Token::Kind::kEnd) parse_item();
    finish_layer();
    if (!mistakes_.empty()) return tl::unexpected(std::move(mistakes_));
    return std::move(layers_);
  }

 private:
  const Token& here() const { return tokens_[at_]; }
  const Token& after() const { return tokens_[std::min(at_ + 1, tokens_.size() - 1)]; }

  static bool is_directive(const Token& token) {
    return token.kind == Token::Kind::kName &&
           (token.text == "tensor" || token.text == "stack" || token.text == "update");
  }

  static DirectivePlace place_of(const Token& token) { return {token.line, token.column}; }

  Diagnostic diagnostic_at(const Token& token, std::string message) const {
    Diagnostic diagnostic;
    diagnostic.location = {file_, token.line, token.column};
    diagnostic.message = std::move(message);
    return diagnostic;
  }

  static std::string described(const Token& token) {
    return token.kind == Token::Kind::kEnd ? "the end" : fmt::format("`{}`", token.text);
  }

  [[noreturn]] void fail(const std::string& expected) const {
    throw DirectiveMistake{diagnostic_at(
        here(), fmt::format("{} where {} should stand", described(here()), expected))};
  }

  /// A directive, or the name of a layer or level before one.
  bool begins_item(std::size_t at) const {
    const auto is_name = [&](std::size_t i) { return tokens_[i].kind == Token::Kind::kName; };
    const std::size_t last = tokens_.size() - 1;
    if (at >= last || is_directive(tokens_[at])) return true;
    if (!is_name(at)) return false;
    return is_directive(tokens_[at + 1]) ||
           (at + 2 <= last && is_name(at + 1) && is_directive(tokens_[at + 2]));
  }

  void parse_item() {
    const std::size_t start = at_;
    try {
      if (is_directive(here())) return parse_directive();
      if (here().kind != Token::Kind::kName) fail("the name of a layer or level, or a directive");
      is_directive(after()) ? start_level() : start_layer();
    } catch (const DirectiveMistake& mistake) {
      mistakes_.push_back(mistake.diagnostic);
      knows_dims_ = false;
      if (at_ == start) ++at_;
      while (!begins_item(at_)) ++at_;
    }
  }

  void start_layer() {
    finish_layer();
    layer_token_ = here();
    layers_.push_back({here().text, {}, place_of(here())});
    ++at_;
  }

  void start_level() {
    if (layers_.empty()) fail("the name of a layer (and then its levels)");
    if (find_level(layers_.back(), here().text) != nullptr)
      mistakes_.push_back(diagnostic_at(here(), fmt::format("layer `{}` has a second level `{}`",
                                                            layers_.back().name, here().text)));
    layers_.back().levels.push_back({here().text, {}, {}, {}, place_of(here())});
    ++at_;
  }

  void finish_layer() {
    if (!layers_.empty() && layers_.back().levels.empty())
      mistakes_.push_back(diagnostic_at(
          layer_token_, fmt::format("layer `{}` has no levels", layers_.back().name)));
    for (const Token& token : moved_)
      if (knows_dims_ && dims_.count(token.text) == 0)
        mistakes_.push_back(diagnostic_at(
            token, fmt::format("no tensor of this layer has the dim `{}`", token.text)));
    moved_.clear();
    dims_.clear();
    knows_dims_ = true;
  }

  LevelDirectives& level() {
    if (layers_.empty() || layers_.back().levels.empty()) fail("a layer and a level");
    return layers_.back().levels.back();
  }

  void parse_directive() {
    LevelDirectives& into = level();
    const std::string kind = here().text;
    if (kind == "tensor")
      parse_tensor(into);
    else if (kind == "stack")
      parse_stack(into);
    else
      parse_update(into);
  }

  void parse_tensor(LevelDirectives& into) {
    if (!into.stacks.empty() || !into.updates.empty())
      fail("a stack or update (tensors come first)");
    ++at_;
    expect("{");
    const Token name = here();
    TensorDirective tensor;
    tensor.place = place_of(name);
    tensor.name = expect_name("the name of a tensor");
    expect("}");
    const bool is_second =
        std::any_of(into.tensors.begin(), into.tensors.end(),
                    [&](const TensorDirective& other) { return other.name == tensor.name; });
    if (is_second)
      mistakes_.push_back(diagnostic_at(
          name, fmt::format("level `{}` has a second tensor `{}`", into.name, tensor.name)));
    tensor.sharers = parse_list("=", tensor.extents, &tensor).value_or(1);
    for (const DimNumber& extent : tensor.extents) dims_.insert(extent.dim);
    into.tensors.push_back(std::move(tensor));
  }

  void parse_stack(LevelDirectives& into) {
    if (!into.updates.empty()) fail("an update (stacks come before updates)");
    const Token start = tokens_[at_++];
    StackDirective stack;
    stack.place = place_of(start);
    if (accept("{")) {
      stack.dimension = expect_name("the name of a spatial dimension");
      expect("}");
    }
    const auto count = parse_list("+=", stack.shifts);
    if (!count)
      throw DirectiveMistake{diagnostic_at(
          start, "this stack does not end with its number of buffers: stack(C+=1, 4)")};
    stack.count = *count;
    into.stacks.push_back(std::move(stack));
  }

  void parse_update(LevelDirectives& into) {
    const Token start = tokens_[at_++];
    UpdateDirective update;
    update.place = place_of(start);
    if (parse_list("+=", update.steps) || update.steps.empty())
      throw DirectiveMistake{
          diagnostic_at(start, "this update is no list of steps: update(C+=1, K+=2)")};
    into.updates.push_back(std::move(update));
  }

  /// `(dim SIGN number, …[, number])`; the number that stands alone. Marks may follow where they
  /// go `into` a tensor.
  std::optional<std::int64_t> parse_list(const std::string& sign, std::vector<DimNumber>& numbers,
                                         TensorDirective* into = nullptr) {
    expect("(");
    std::optional<std::int64_t> last;
    for (bool is_first = true; !accept(")"); is_first = false) {
      if (!is_first) expect(",");
      if (into != nullptr && accept_mark(*into)) continue;
      if (last) fail("`)`");
      if (here().kind == Token::Kind::kNumber)
        last = expect_number();
      else
        numbers.push_back(parse_dim(sign, numbers));
    }
    return last;
  }

  bool accept_mark(TensorDirective& tensor) {
    if (here().kind != Token::Kind::kName || after().text == "=") return false;
    for (const TensorMark& mark : tensor_marks())
      if (here().text == mark.name) {
        tensor.*mark.flag = true;
        ++at_;
        return true;
      }
    return false;
  }

  DimNumber parse_dim(const std::string& sign, const std::vector<DimNumber>& before) {
    const Token token = here();
    DimNumber number;
    number.dim = expect_name("a dim");
    for (const DimNumber& other : before)
      if (other.dim == number.dim)
        mistakes_.push_back(
            diagnostic_at(token, fmt::format("the dim `{}` stands twice", number.dim)));
    if (sign == "+=") moved_.push_back(token);
    expect(sign);
    number.number = expect_number();
    return number;
  }

  bool accept(const std::string& sign) {
    if (here().kind != Token::Kind::kSign || here().text != sign) return false;
    ++at_;
    return true;
  }

  void expect(const std::string& sign) {
    if (!accept(sign)) fail(fmt::format("`{}`", sign));
  }

  std::string expect_name(const std::string& what) {
    if (here().kind != Token::Kind::kName && here().kind != Token::Kind::kNumber) fail(what);
    return tokens_[at_++].text;
  }

  std::int64_t expect_number() {
    const std::string& text = here().text;
    std::int64_t number = 0;
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool is_number = here().kind == Token::Kind::kNumber && error == std::errc();
    if (!is_number || number < 1 || number > kLargestNumber) fail("a whole number from 1 to 1e12");
    ++at_;
    return number;
  }

  const std::string& file_;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  Token layer_token_;
  std::set<std::string> dims_;  ///< of the tensors of the layer
  std::vector<Token> moved_;    ///< dims of its stacks and updates
  bool knows_dims_ = true;      ///< all of its tensors could be read
  std::vector<LayerDirectives> layers_;
  Diagnostics mistakes_;
};

}  // namespace

Result<std::vector<LayerDirectives>> parse_directives(const std::string& text,
                                                      const std::string& file) {
  return DirectiveParser(text, file).parse();
}

}  // namespace sluice::kapla
