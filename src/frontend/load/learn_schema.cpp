#include "sluice/frontend/learn_schema.h"

#include "frontend/load/load_files.h"
#include "frontend/load/spec_examples.h"
#include "frontend/yaml/schema_recorder.h"
#include "sluice/support/error.h"

namespace sluice {
namespace {

/// Knows all numbers, so that a component may leave them out.
class ExampleClass : public ComponentClass {
 public:
  std::string name() const override { return "Example"; }
  bool fits(const std::string&) const override { return true; }
  std::string source() const override { return "an example"; }
  std::vector<ComponentAttribute> attributes() const override { return {{"any", "", 1.0, "", 0}}; }
  ComponentNumbers numbers(const std::map<std::string, double>&) const override {
    ComponentNumbers numbers;
    for (const char* action : {"read", "write", "compute"})
      numbers.actions.push_back({action, 1.0, std::nullopt, 1.0, std::nullopt});
    numbers.hop_energy_j_per_bit = 1;
    return numbers;
  }
};

}  // namespace

std::vector<std::string> specs_that_use_everything() {
  return {std::begin(kSpecExamples), std::end(kSpecExamples)};
}

SpecSchema spec_schema() {
  SchemaRecorder recorder;
  for (const std::string& text : specs_that_use_everything()) {
    LoadOptions options;
    options.component_classes.emplace<ExampleClass>();
    ReadContext context(options);
    context.watch(recorder);
    SpecFiles files(context);
    files.add_text("every_key.yaml", text);
    const auto specs = load(context, files);
    recorder.forget_nodes();
    SLUICE_CHECK(specs.has_value(), to_string(specs.error().front()));
  }
  return recorder.take();
}

}  // namespace sluice
