#pragma once

#include <string>

namespace sluice {

/// JSON Schema (2020-12) of spec files that have one of the sections `workload`, `arch`, `mapping`,
/// `constraints`, as their readers know it. JSON has no tags: a node's is its key `node`, which may
/// be absent (`!Memory {…}` is `{node: Memory, …}`).
std::string spec_schema_text(const std::string& section);

/// JSON Schema of the result document `sluice.result/1`.
std::string result_schema_text();

}  // namespace sluice
