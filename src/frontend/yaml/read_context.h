#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "frontend/yaml/source_files.h"
#include "frontend/yaml/yaml_node.h"
#include "sluice/frontend/load_options.h"
#include "sluice/frontend/origins.h"
#include "sluice/support/diagnostic.h"
#include "sluice/support/expression.h"

namespace sluice {

class SchemaRecorder;

/// What all readers of one load share: the texts, the variables, and the mistakes found so far.
class ReadContext {
 public:
  explicit ReadContext(const LoadOptions& options) : options_(options) {}

  SourceFiles& sources() { return sources_; }
  const SourceFiles& sources() const { return sources_; }
  const LoadOptions& options() const { return options_; }

  void error(const SourcePosition& position, std::string message, std::string hint = {});
  void error(const YamlNode& node, std::string message, std::string hint = {}) {
    error(node.position, std::move(message), std::move(hint));
  }
  /// About the text of a scalar, `offset` bytes into it.
  void error_inside(const YamlNode& scalar, std::size_t offset, std::string message,
                    std::string hint = {});
  void error(const YamlNode& scalar, const ExpressionError& error);
  /// Something that follows from a mistake that was reported already.
  void error_that_follows() { ++n_errors_; }
  /// About no text at all (an option, a file that cannot be read).
  void error_about(const std::string& subject, std::string message, std::string hint = {},
                   DiagnosticCause cause = DiagnosticCause::kContent);
  /// Nothing wrong, but hardly what was meant.
  void warning(const YamlNode& node, std::string message, std::string hint = {});
  /// What stands in no text: of files that are not YAML.
  void add_warning(Diagnostic warning) { warnings_.push_back(std::move(warning)); }
  /// Where a node stands in the user's files.
  NodePlace place_of(const YamlNode& node) const {
    const SourcePosition position = sources_.origin(node.position);
    return {{sources_.name(position.file), position.line, position.column},
            sources_.line(position)};
  }
  /// False where further errors are counted and not shown: no need to find a hint.
  bool shows_errors() const { return diagnostics_.size() < kMostDiagnostics; }
  bool has_errors() const { return n_errors_ > 0; }
  /// How many were found so far; a reader compares it before and after.
  std::size_t n_errors() const { return n_errors_; }

  /// All mistakes, by file and place, without repetitions (a shared alias is read several times).
  Diagnostics take_diagnostics();
  const Diagnostics& warnings() const { return warnings_; }

  /// Who watches the readers; null, as a rule.
  SchemaRecorder* recorder() const { return recorder_; }
  void watch(SchemaRecorder& recorder) { recorder_ = &recorder; }

  /// A file could not be read whose variables are not known: `--set` may be meant for them.
  void leave_variables_open() { are_variables_open_ = true; }
  bool are_variables_open() const { return are_variables_open_; }

  std::map<std::string, Expression>& variables() { return variables_; }
  std::vector<NumberSource>& number_sources() { return number_sources_; }
  std::vector<NullEnergy>& null_energies() { return null_energies_; }
  /// The value of a spec variable, or none.
  std::optional<Expression> variable(const std::string& name) const;
  /// Variables whose own text is wrong, which was said; nothing is said about what uses them.
  std::set<std::string>& broken_variables() { return broken_variables_; }
  /// Per variable: the variables that its text names.
  std::map<std::string, std::vector<std::string>>& dependences() { return dependences_; }
  /// `--set NAME=VALUE` of each variable from the command line that these depend on.
  std::vector<std::string> assignments_behind(const std::vector<std::string>& names) const;

 private:
  static constexpr std::size_t kMostDiagnostics = 200;
  bool are_variables_open_ = false;
  struct Found {
    SourcePosition position;
    Diagnostic diagnostic;
  };
  const LoadOptions& options_;
  SchemaRecorder* recorder_ = nullptr;
  SourceFiles sources_;
  std::vector<Found> diagnostics_;  ///< the first few hundred
  std::size_t n_errors_ = 0;
  Diagnostics warnings_;
  std::map<std::string, Expression> variables_;
  std::set<std::string> broken_variables_;
  std::map<std::string, std::vector<std::string>> dependences_;
  std::vector<NumberSource> number_sources_;
  std::vector<NullEnergy> null_energies_;
};

/// `did you mean 'X'?`, or else `otherwise`.
std::string did_you_mean(const std::string& word, const std::vector<std::string>& candidates,
                         const std::string& otherwise = {});

}  // namespace sluice
