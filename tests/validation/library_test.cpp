// The shipped library: every workload runs on every architecture, and the networks are as large as
// their papers say.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "sluice/frontend/load.h"
#include "sluice/model/binding.h"
#include "support/folders.h"

namespace sluice {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

std::filesystem::path library_folder(const std::string& kind) {
  return testing::repository_dir() / "library" / kind;
}

std::vector<std::string> library_files(const std::string& kind) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(library_folder(kind)))
    if (entry.path().extension() == ".yaml") files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  return files;
}

Result<Specs> load(const std::vector<std::string>& files) { return load_specs(files, {}); }

const Rename* find_rename(const Einsum& einsum, const std::string& name) {
  for (const Rename& rename : einsum.renames)
    if (rename.name == name) return &rename;
  return nullptr;
}

std::int64_t iteration_points(const Einsum& einsum) {
  std::int64_t points = 1;
  for (const VariableRange& range : einsum.iteration_space) points *= range.size;
  return points;
}

/// Multiply-adds of the Einsums that have a weight: matrix products and convolutions.
std::int64_t multiply_adds(const Workload& workload) {
  std::int64_t total = 0;
  for (const Einsum& einsum : workload.einsums) {
    const Rename* weight = find_rename(einsum, "weight");
    if (weight && !weight->tensors.empty()) total += iteration_points(einsum);
  }
  return total;
}

class LibraryWorkload : public ::testing::TestWithParam<std::string> {};

TEST_P(LibraryWorkload, HasARoleForEveryTensor) {
  const Result<Specs> specs = load({GetParam()});
  ASSERT_TRUE(specs) << to_string(specs.error());
  ASSERT_TRUE(specs->workload);
  for (const Einsum& einsum : specs->workload->einsums) {
    SCOPED_TRACE(einsum.name);
    for (const char* role : {"input", "weight", "output"})
      ASSERT_NE(find_rename(einsum, role), nullptr) << role;
    EXPECT_THAT(find_rename(einsum, "output")->tensors, SizeIs(1));
    std::set<std::size_t> named;  // a recurrence's state is an input and the output
    for (const char* role : {"input", "weight", "output"})
      for (TensorId tensor : find_rename(einsum, role)->tensors) named.insert(tensor.index());
    std::set<std::size_t> tensors;
    for (TensorId tensor : tensors_of(einsum)) tensors.insert(tensor.index());
    EXPECT_EQ(named, tensors);
  }
}

TEST_P(LibraryWorkload, IsAcceptedByEveryArchitecture) {
  for (const std::string& arch : library_files("architectures")) {
    SCOPED_TRACE(arch);
    const Result<Specs> specs = load({GetParam(), arch});
    ASSERT_TRUE(specs) << to_string(specs.error());
    EXPECT_THAT(specs->warnings, IsEmpty()) << to_string(specs->warnings);
    const Result<BoundProblem> problem = bind(*specs->workload, *specs->arch);
    EXPECT_TRUE(problem) << to_string(problem.error());
  }
}

INSTANTIATE_TEST_SUITE_P(All, LibraryWorkload, ::testing::ValuesIn(library_files("workloads")),
                         [](const auto& test) {
                           std::string name = std::filesystem::path(test.param).stem().string();
                           std::replace(name.begin(), name.end(), '.', '_');
                           return name;
                         });

struct PublishedSize {
  const char* workload;
  std::int64_t multiply_adds;
};

class LibrarySize : public ::testing::TestWithParam<PublishedSize> {};

/// ResNet-18: 1.8 G (He et al. 2016, Table 1). MobileNet v1: 569 M (Howard et al. 2017, Table 4);
/// v3 small: 56 M (Howard et al. 2019, Table 3). Transformers: products of Table 2.1's sizes.
TEST_P(LibrarySize, IsThePublishedOne) {
  const auto file = library_folder("workloads") / (std::string(GetParam().workload) + ".yaml");
  const Result<Specs> specs = load({file.string()});
  ASSERT_TRUE(specs) << to_string(specs.error());
  EXPECT_EQ(multiply_adds(*specs->workload), GetParam().multiply_adds);
}

// A decoder layer: 12 d² a token in the products with weights, 2 d a pair of tokens in attention.
constexpr std::int64_t decoder_layer(std::int64_t d, std::int64_t queries, std::int64_t keys) {
  return queries * (12 * d * d + 2 * keys * d);
}

INSTANTIATE_TEST_SUITE_P(
    Networks, LibrarySize,
    ::testing::Values(PublishedSize{"resnet18", 1'814'073'344},
                      PublishedSize{"mobilenet_v1", 568'740'352},
                      PublishedSize{"mobilenet_v3_small", 56'510'400},
                      PublishedSize{"gpt3_6.7b", decoder_layer(4096, 2048, 2048)},
                      PublishedSize{"gpt3_6.7b_decode", decoder_layer(4096, 1, 2048)},
                      PublishedSize{"gpt3_175b", decoder_layer(12288, 2048, 2048)},
                      PublishedSize{"gpt3_175b_decode", decoder_layer(12288, 1, 2048)},
                      PublishedSize{"bert_base", decoder_layer(768, 512, 512)},
                      PublishedSize{"bert_large", decoder_layer(1024, 512, 512)}),
    [](const auto& test) {
      std::string name = test.param.workload;
      std::replace(name.begin(), name.end(), '.', '_');
      return name;
    });

struct PublishedNetwork {
  const char* workload;
  int n_layers;
  std::int64_t multiply_adds;
};

class LibraryNetwork : public ::testing::TestWithParam<PublishedNetwork> {};

/// All layers: 96 of GPT-3 175B, 12 and 24 of BERT. ViT-Base/16: 12 layers of 197 tokens, 197
/// patches of 768 values, 1,000 classes: 17.56 G (17.5 G for DeiT-B, the same network, in Liu et
/// al. 2021, "Swin Transformer", Table 1).
TEST_P(LibraryNetwork, IsThePublishedOne) {
  const auto file = library_folder("workloads") / (std::string(GetParam().workload) + ".yaml");
  LoadOptions options;
  options.variables["N_LAYERS"] = std::to_string(GetParam().n_layers);
  const Result<Specs> specs = load_specs({file.string()}, options);
  ASSERT_TRUE(specs) << to_string(specs.error());
  EXPECT_EQ(multiply_adds(*specs->workload), GetParam().multiply_adds);
}

INSTANTIATE_TEST_SUITE_P(
    Networks, LibraryNetwork,
    ::testing::Values(PublishedNetwork{"gpt3_175b", 96, 96 * decoder_layer(12288, 2048, 2048)},
                      PublishedNetwork{"bert_base", 12, 12 * decoder_layer(768, 512, 512)},
                      PublishedNetwork{"bert_large", 24, 24 * decoder_layer(1024, 512, 512)},
                      PublishedNetwork{
                          "vit_base", 12,
                          12 * decoder_layer(768, 197, 197) + 197 * 768 * 768 + 768 * 1000}),
    [](const auto& test) { return std::string(test.param.workload); });

}  // namespace
}  // namespace sluice
