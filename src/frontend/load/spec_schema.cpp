#include "sluice/frontend/spec_schema.h"

#include "frontend/load/load_files.h"
#include "frontend/load/spec_examples.h"
#include "frontend/yaml/schema_recorder.h"
#include "sluice/support/error.h"

namespace sluice {

std::vector<std::string> spec_that_uses_everything() {
  return {std::begin(kSpecExamples), std::end(kSpecExamples)};
}

SpecSchema spec_schema() {
  SchemaRecorder recorder;
  for (const std::string& text : spec_that_uses_everything()) {
    const LoadOptions options;
    ReadContext context(options);
    context.watch(recorder);
    SpecFiles files(context);
    files.add_text("every_key.yaml", text);
    const auto specs = load(context, files);
    SLUICE_CHECK(specs.has_value(), to_string(specs.error().front()));
  }
  return recorder.take();
}

}  // namespace sluice
