#pragma once

#include <string>

#include "sluice/frontend/spec_schema.h"

namespace sluice {

/// JSON Schema (2020-12) of spec files that have one of the sections `workload`, `arch`, `mapping`,
/// `constraints`, as their readers know it. JSON has no tags: a node's is its key `node`, which may
/// be absent (`!Memory {…}` is `{node: Memory, …}`).
std::string spec_schema_text(const std::string& section);

/// JSON Schema of a file that is one of the objects of a schema, without repetitions.
std::string object_schema_text(SpecSchema schema, const std::string& object,
                               const std::string& title);

/// JSON Schema of the result document `sluice.result/1`.
std::string result_schema_text();

}  // namespace sluice
