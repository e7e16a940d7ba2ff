#include "token.h"

#include <cctype>

namespace sluice::kapla {
namespace {

bool is_name_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '-';
}

/// Walks over a text, counting lines and columns.
class Tokenizer {
 public:
  explicit Tokenizer(const std::string& text) : text_(text) {}

  std::vector<Token> run() {
    for (skip(); at_ < text_.size(); skip()) tokens_.push_back(next());
    tokens_.push_back({Token::Kind::kEnd, "", line_, column_});
    return std::move(tokens_);
  }

 private:
  char here() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  void step() {
    const bool ends_line = text_[at_] == '\n';
    line_ += ends_line ? 1 : 0;
    column_ = ends_line ? 1 : column_ + 1;
    ++at_;
  }

  void skip() {
    for (bool in_comment = false; at_ < text_.size(); step()) {
      if (here() == '#') in_comment = true;
      if (here() == '\n') in_comment = false;
      if (!in_comment && !std::isspace(static_cast<unsigned char>(here()))) return;
    }
  }

  Token next() {
    Token token{Token::Kind::kSign, "", line_, column_};
    if (is_name_character(here())) {
      token.kind = Token::Kind::kNumber;
      for (; is_name_character(here()); step()) {
        if (!std::isdigit(static_cast<unsigned char>(here()))) token.kind = Token::Kind::kName;
        token.text += here();
      }
      return token;
    }
    const bool is_plus = here() == '+';
    do {
      token.text += here();
      step();
    } while (is_plus && token.text == "+" && here() == '=');
    return token;
  }

  const std::string& text_;
  std::size_t at_ = 0;
  int line_ = 1;
  int column_ = 1;
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> tokens_of(const std::string& text) { return Tokenizer(text).run(); }

}  // namespace sluice::kapla
