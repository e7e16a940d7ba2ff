#pragma once

#include <map>
#include <string>

#include "sluice/kapla/run.h"
#include "sluice/kapla/scheme.h"
#include "sluice/support/diagnostic.h"

namespace sluice::kapla {

/// Runs by name, from a table with columns `name,solver,net,batch,mapping,hw` (others are ignored).
/// The network of a run is read when the run is asked for.
class RunTable {
 public:
  /// `compatible`: count as the artifact does.
  static Result<RunTable> read(const std::string& text, const std::string& file, bool compatible);

  /// The run of that name; what is wrong with it or with its network. `place` asks for it.
  Result<Run> find(const std::string& name, const SourceLocation& place) const;

 private:
  struct Row {
    SourceLocation place;
    std::map<std::string, std::string> cells;
  };
  std::map<std::string, Row> rows_;
  bool compatible_ = false;
};

/// A line of a schemes file, as JSON. Only inputs are looked at; whatever else it has is ignored.
Result<Scheme> read_scheme(const std::string& line, const SourceLocation& place);

/// The line with the costs in it: what it had of them is replaced, everything else kept.
std::string with_cost(const std::string& line, const SchemeCost& cost);

}  // namespace sluice::kapla
