#include "sluice/support/registry.h"

#include <gtest/gtest.h>

namespace sluice {
namespace {

struct Word {
  explicit Word(std::string text) : text_(std::move(text)) {}
  virtual ~Word() = default;
  std::string name() const { return text_; }
  std::string text_;
};

TEST(Registry, FindsByNameInTheOrderOfAdding) {
  Registry<Word> words;
  words.emplace<Word>("second");
  words.emplace<Word>("first");
  EXPECT_EQ(words.names(), (std::vector<std::string>{"second", "first"}));
  EXPECT_EQ(words.find("first")->name(), "first");
  EXPECT_EQ(words.find("third"), nullptr);
  std::string all;
  for (const auto& word : words) all += word->name() + " ";
  EXPECT_EQ(all, "second first ");
}

TEST(Registry, RefusesNamesThatAreTakenOrEmpty) {
  Registry<Word> words;
  words.emplace<Word>("first");
  EXPECT_THROW(words.emplace<Word>("first"), std::invalid_argument);
  EXPECT_THROW(words.emplace<Word>(""), std::invalid_argument);
  EXPECT_EQ(words.size(), 1u);
}

TEST(Registry, ACopyIsItsOwnAndKeepsItsItems) {
  Registry<Word> copy;
  {
    Registry<Word> words;
    words.emplace<Word>("first");
    copy = words;
    EXPECT_EQ(copy, words);
    copy.emplace<Word>("second");
    EXPECT_EQ(words.find("second"), nullptr);
    EXPECT_FALSE(copy == words);
  }
  EXPECT_EQ(copy.find("first")->name(), "first");
}

TEST(Registry, TakesWhatLivesAsLongAsTheProgram) {
  static const Word word("static");
  Registry<Word> words;
  words.add_static(word);
  EXPECT_EQ(words.find("static"), &word);
}

}  // namespace
}  // namespace sluice
