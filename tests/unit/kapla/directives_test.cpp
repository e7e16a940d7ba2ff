#include "sluice/kapla/directives.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "sluice/kapla/scheme_text.h"
#include "support/folders.h"
#include "support/run_program.h"

namespace sluice::kapla {
namespace {

using ::testing::HasSubstr;

constexpr const char* kConv2a = R"(conv2_a
  REGF
    tensor{W}(C=3, K=1, R=5, S=1)
    tensor{I}(N=1, C=3, Xi=5, Yi=1)
    tensor{O}(N=1, K=1, Xo=1, Yo=1)
    stack(Yi+=1, Yo+=1, 7)
    stack(S+=1, Yi+=1, 5)
    update(Xi+=1, Xo+=1)
    update(Yi+=7, Yo+=7)
  GBUF
    tensor{W}(C=3, K=16, R=5, S=5, 2)
    stack(C+=3, 8)
    stack(2)
    update(K+=16)
)";

std::string mistakes(const std::string& text) {
  const auto layers = parse_directives(text, "d.txt");
  return layers ? "" : to_string(layers.error());
}

TEST(Directives, ReadBackFromTheirText) {
  const auto layers = parse_directives(kConv2a, "d.txt");
  ASSERT_TRUE(layers) << to_string(layers.error());
  EXPECT_EQ(to_text(*layers), kConv2a);
  const LevelDirectives* buffer = find_level(layers->at(0), "GBUF");
  ASSERT_NE(buffer, nullptr);
  EXPECT_EQ(extent_of(*buffer, "W", "K"), 16);
  EXPECT_EQ(buffer->tensors[0].sharers, 2);
  EXPECT_EQ(buffer->stacks[0], (StackDirective{{{"C", 3}}, 8}));
  EXPECT_EQ(buffer->stacks[1], (StackDirective{{}, 2}));  // copies
}

TEST(Directives, StandOnOneLineAsWellAndBesideComments) {
  const auto layers = parse_directives(
      "a REGF tensor{W}(C=3) # weights\n update(C+=1) GBUF tensor{W}(C=6)\nb REGF tensor{O}(K=2)",
      "d.txt");
  ASSERT_TRUE(layers) << to_string(layers.error());
  ASSERT_EQ(layers->size(), 2);
  EXPECT_EQ(layers->at(0).levels.size(), 2);
}

TEST(Directives, SayWhereTheyAreWrong) {
  EXPECT_EQ(mistakes("a REGF\n tensor{W}(C=3\n stack(C+=1, 2)"),
            "d.txt:3:2: error: `stack` where `,` should stand\n");
  EXPECT_THAT(mistakes("a REGF tensor{W}(C=0)"),
              HasSubstr("d.txt:1:20: error: `0` where a whole number from 1 to 1e12 should stand"));
  EXPECT_THAT(mistakes("a REGF tensor{W}(C=3) stack(Z+=1, 2)"),
              HasSubstr("d.txt:1:29: error: no tensor of this layer has the dim `Z`"));
  EXPECT_THAT(mistakes("a REGF tensor{W}(C=3) stack(C+=1)"),
              HasSubstr("d.txt:1:23: error: this stack does not end with its number of buffers"));
  EXPECT_THAT(mistakes("a REGF tensor{W}(C=3, C=4)"), HasSubstr("the dim `C` stands twice"));
  EXPECT_THAT(mistakes("tensor{W}(C=3)"),
              HasSubstr("`tensor` where a layer and a level should stand"));
  EXPECT_THAT(mistakes("a\nb REGF tensor{W}(C=3)"),
              HasSubstr("d.txt:1:1: error: layer `a` has no levels"));
  EXPECT_THAT(mistakes("a REGF tensor{W}(C=3) update()"),
              HasSubstr("this update is no list of steps"));
  EXPECT_THAT(mistakes("a REGF tensor{W}(C=3) update(C+=1) stack(C+=1, 2)"),
              HasSubstr("(stacks come before updates)"));
}

TEST(Directives, TellAllMistakesAtOnce) {
  const std::string text =
      mistakes("a REGF tensor{W}(C=) stack(C+=1, 2) GBUF tensor{W}(K=) update(K+=1)");
  EXPECT_THAT(text, HasSubstr("d.txt:1:20: error"));
  EXPECT_THAT(text, HasSubstr("d.txt:1:54: error"));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2) << text;
}

TEST(Directives, OfPublishedSchemesReadBackFromTheirText) {
  const auto path = testing::repository_dir() / "repro" / "kapla" / "sample" / "schemes.jsonl";
  std::istringstream lines(testing::read_text(path.string()));
  std::vector<LayerDirectives> layers;
  for (std::string line; std::getline(lines, line);)
    if (const auto scheme = read_scheme(line, {}); scheme && scheme->directives)
      layers.push_back(scheme->directives->layer);
  EXPECT_EQ(layers.size(), 94);
  const auto again = parse_directives(to_text(layers), "printed");
  ASSERT_TRUE(again) << to_string(again.error()).substr(0, 1000);
  EXPECT_EQ(*again, layers);
}

}  // namespace
}  // namespace sluice::kapla
