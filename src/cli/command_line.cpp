#include "command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <exception>
#include <functional>
#include <ostream>
#include <thread>

#include "cli/commands/commands.h"
#include "cli/help/command_table.h"
#include "cli/help/schema.h"
#include "cli/io/failure.h"
#include "cli/io/library_names.h"
#include "cli/usage_failure.h"
#include "help_formatter.h"
#include "report/document/result_document.h"
#include "sluice/mapper/options_table.h"
#include "sluice/model/latency_policy.h"
#include "sluice/network/layers_mapper.h"
#include "sluice/support/error.h"
#include "sluice/support/version.h"

namespace sluice::cli {
namespace {

/// What all commands share. Filled by CLI11 while it parses.
struct ParsedArguments {
  SpecArguments specs;
  OutputArguments output;
  std::vector<std::string> constraints;
  std::string progress = "auto";
  std::map<std::string, std::string> options;
  std::map<std::string, bool> switches;
  std::string list_kind;
  ReportArguments report;
  std::string trace;
  std::string inputs;
  std::string outputs;
  std::string latency = "overlap";
  std::string batch;
  EvaluateSchemesArguments schemes;
  bool as_directives = false;
  std::string vary;
  std::string energy_file;
  SweepArguments sweep;
  DesignArguments design;
  std::uint64_t seed = 0;
  bool why = false;
  bool yaml = false;
  bool ascii = false;
  bool verbose = false;
};

using Command = std::function<ExitCode(const ParsedArguments&, const Console&)>;

constexpr const char* kSpecsHelp =
    "Spec files (YAML) or names of the library: first the workload, then the architecture, then "
    "whatever else; all are merged, later ones override";

/// An option that may be given several times, with one value each.
void repeat(CLI::Option* option) { option->take_all()->allow_extra_args(false); }

/// Accepts one of the words; says which is nearest to any other.
std::function<std::string(const std::string&)> one_of(const std::vector<std::string>& words) {
  return [words](const std::string& word) -> std::string {
    if (std::find(words.begin(), words.end(), word) != words.end()) return {};
    const std::string nearest = nearest_name(word, words);
    return fmt::format("`{}` is none of {}{}", word, fmt::join(words, ", "),
                       nearest.empty() ? "" : fmt::format("; did you mean `{}`?", nearest));
  };
}

/// Accepts a seed; the parser of numbers would take -1 for 2^64 - 1.
std::string seed_fault(const std::string& text) {
  std::uint64_t seed = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
  const bool is_whole = error == std::errc() && end == text.data() + text.size();
  return is_whole ? "" : fmt::format("`{}`: expected a whole number from 0 to 2^64 - 1", text);
}

/// An option with the name of a file or folder: a shell's variable that is not set is none.
CLI::Option* add_name(CLI::App& command, const std::string& option, std::string& name,
                      const std::string& help, const std::string& type) {
  return command.add_option(option, name, help)
      ->check([](const std::string& text) -> std::string {
        return text.empty() ? "expected a name, not an empty text" : "";
      })
      ->type_name(type);
}

/// What makes a training step of the workload.
void add_training(CLI::App& command, SpecArguments& specs) {
  static const std::map<std::string, Optimizer> optimizers{
      {"none", Optimizer::kNone}, {"sgd", Optimizer::kSgd}, {"adam", Optimizer::kAdam}};
  CLI::Option* const training =
      command.add_flag("--training", specs.is_training,
                       "Add the backward pass: the workload becomes a training step");
  command
      .add_option_function<std::string>(
          "--optimizer",
          [&specs](const std::string& name) { specs.training.optimizer = optimizers.at(name); },
          "What follows the gradients: none (default), sgd or adam")
      ->check(one_of({"none", "sgd", "adam"}))
      ->type_name("NAME")
      ->needs(training);
  repeat(command
             .add_option("--recompute", specs.training.recompute,
                         "Intermediates that the backward pass makes again, or `all`")
             ->delimiter(',')
             ->type_name("TENSOR,...")
             ->needs(training));
  repeat(
      command
          .add_option("--gradients-of", specs.training.gradients_of,
                      "Inputs that get gradients. Default: all that are the same for every sample")
          ->delimiter(',')
          ->type_name("TENSOR,...")
          ->needs(training));
}

/// What is said about specs beside their names.
void add_spec_settings(CLI::App& command, SpecArguments& specs) {
  repeat(command
             .add_option("--set", specs.assignments,
                         "Set a variable of the specs, or any field by its path")
             ->type_name("NAME=VALUE"));
  command
      .add_option("--ert", specs.energy_file,
                  "Energies per action for files of Timeloop or AccelForge (docs/importing.md)")
      ->type_name("FILE");
  add_training(command, specs);
}

void add_specs(CLI::App& command, const std::string& name, ParsedArguments& parsed) {
  command.add_option(name, parsed.specs.names, kSpecsHelp)->required()->option_text(" ");
  add_spec_settings(command, parsed.specs);
}

void add_directives(CLI::App& command, ParsedArguments& parsed) {
  command
      .add_option("--directives", parsed.specs.directives,
                  "The mapping, as KAPLA's directives (docs/networks.md)")
      ->type_name("FILE");
}

void add_output(CLI::App& command, ParsedArguments& parsed) {
  add_name(command, "-o,--output", parsed.output.folder,
           "Write result.json and mapping.yaml into this folder", "DIR");
  command.add_flag("--json", parsed.output.json,
                   "Print the result document, and nothing else, on standard output");
  command.add_flag(
      "--sources", parsed.output.sources,
      "Say in the summary which energies, areas and leakage come from component classes");
  command.add_flag("-v,--verbose", parsed.verbose, "Log on standard error what is being done");
}

void add_report_option(CLI::App& command, ParsedArguments& parsed) {
  add_name(command, "--report", parsed.output.report,
           "Write a page that shows the result (docs/report.md)", "FILE");
}

void add_ascii(CLI::App& command, ParsedArguments& parsed) {
  command.add_flag("--ascii", parsed.ascii, "Draw with ASCII characters only");
}

/// What the command line takes where an option is not given.
std::string default_text(const MapperOption& option) {
  if (option.name == "threads") return "one a processor";
  if (option.name == "memory") return "half of the machine's";
  return option.get(MapperOptions{});
}

/// One flag for each row of the option table.
void add_search_options(CLI::App& command, ParsedArguments& parsed,
                        const std::vector<std::string>& without = {}) {
  for (const MapperOption& option : mapper_option_table()) {
    if (std::find(without.begin(), without.end(), option.name) != without.end()) continue;
    if (option.is_switch()) {
      command.add_flag(flag_of(option), parsed.switches[option.name], option.help)
          ->group("Search options");
      continue;
    }
    command
        .add_option(flag_of(option), parsed.options[option.name],
                    fmt::format("{} ({})", option.help, option.range))
        ->type_name("")
        ->default_str(default_text(option))
        ->group("Search options");
  }
}

ProgressStyle progress_style(const std::string& wish, const Console& console) {
  if (wish == "plain") return ProgressStyle::kPlain;
  if (wish == "json") return ProgressStyle::kJson;
  if (wish == "none") return ProgressStyle::kNone;
  return console.err_is_terminal ? ProgressStyle::kTerminal : ProgressStyle::kNone;
}

/// The search options that were given, by name.
std::map<std::string, std::string> given_options(const ParsedArguments& parsed,
                                                 const CLI::App& command) {
  std::map<std::string, std::string> given;
  for (const auto& [name, value] : parsed.options)
    if (const std::string flag = flag_of(*find_mapper_option(name));
        command.get_option_no_throw(flag) != nullptr && command.count(flag) > 0)
      given[name] = value;
  for (const auto& [name, is_on] : parsed.switches)
    if (is_on) given[name] = "true";
  return given;
}

SpecArguments specs_with_constraints(const ParsedArguments& parsed) {
  SpecArguments specs = parsed.specs;
  specs.names.insert(specs.names.end(), parsed.constraints.begin(), parsed.constraints.end());
  specs.ends_with_constraints = !parsed.constraints.empty();
  return specs;
}

class CommandLine {
 public:
  CommandLine() {
    app_.name("sluice");
    app_.set_version_flag("--version", fmt::format("sluice {}", version()));
    app_.require_subcommand(1);
    app_.formatter(std::make_shared<HelpFormatter>());
    add_map();
    add_bounds();
    add_evaluate();
    add_execute();
    add_sweep();
    add_design();
    add_compare();
    add_import();
    add_check();
    add_show();
    add_report();
    add_list();
    add_schema();
    add_completion();
    add_man();
  }

  ExitCode run(const std::vector<std::string>& arguments, Console& console) {
    try {
      app_.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
    } catch (const CLI::Success& request) {  // --help, --version
      app_.exit(request, console.out, console.err);
      return ExitCode::kSuccess;
    } catch (const CLI::ParseError& error) {
      throw usage_failure(app_, names_of_commands(), arguments, error);
    }
    console.ascii = console.ascii || parsed_.ascii;
    if (parsed_.verbose) console.log = Log::to_standard_error();
    const CLI::App* command = app_.get_subcommands().front();
    return commands_.at(command->get_name())(parsed_, console);
  }

 private:
  void add_map() {
    CLI::App& command = *app_.add_subcommand("map", "Find the best mapping of a workload");
    add_specs(command, "WORKLOAD ARCH", parsed_);
    add_output(command, parsed_);
    add_report_option(command, parsed_);
    add_ascii(command, parsed_);
    add_constraints(command);
    add_progress(command);
    command.add_flag("--why", parsed_.why,
                     "Explain the mapping: what binds, what each Einsum would cost alone, and what "
                     "twice as much of everything would bring");
    add_search_options(command, parsed_);
    commands_["map"] = [&command](const ParsedArguments& parsed, const Console& console) {
      return run_map({specs_with_constraints(parsed), parsed.output, given_options(parsed, command),
                      progress_style(parsed.progress, console), parsed.why},
                     console);
    };
  }

  void add_constraints(CLI::App& command) {
    repeat(command
               .add_option("--constraints", parsed_.constraints,
                           "Merge one more file, with constraints that the mapping must meet")
               ->type_name("FILE"));
  }

  void add_bounds() {
    CLI::App& command = *app_.add_subcommand(
        "bounds",
        "Find the least traffic, energy and latency of the mappings of `fused`, also over a size");
    add_specs(command, "WORKLOAD ARCH", parsed_);
    command
        .add_option("--vary", parsed_.vary,
                    "Do it for each value of a variable or field: NAME=16KiB..64MiB:x2, "
                    "NAME=1..9:+2, NAME=1,2,8")
        ->type_name("NAME=VALUES");
    add_name(command, "-o,--output", parsed_.output.folder,
             "Write result.json and bounds.csv into this folder", "DIR");
    command.add_flag("--json", parsed_.output.json,
                     "Print the document, and nothing else, on standard output");
    command.add_flag("-v,--verbose", parsed_.verbose, "Log on standard error what is being done");
    add_ascii(command, parsed_);
    add_constraints(command);
    add_progress(command);
    add_search_options(command, parsed_,
                       {"mapper", "objective", "latency", "top", "row_fusion", "einsum_orders"});
    command.get_option("--budget")
        ->description(
            "End each search after this time: there are three for each value, and three for each "
            "different Einsum (`60s`, `500ms`, `5min`, none)");
    commands_["bounds"] = [&command](const ParsedArguments& parsed, const Console& console) {
      return run_bounds(
          {specs_with_constraints(parsed), parsed.output, given_options(parsed, command),
           parsed.vary, progress_style(parsed.progress, console)},
          console);
    };
  }

  void add_evaluate() {
    CLI::App& command =
        *app_.add_subcommand("evaluate", "Price given mappings, or say why they are illegal");
    add_specs(command, "WORKLOAD ARCH MAPPING", parsed_);
    add_directives(command, parsed_);
    add_output(command, parsed_);
    add_report_option(command, parsed_);
    add_ascii(command, parsed_);
    add_constraints(command);
    command.add_option("--latency", parsed_.latency, "Latency policy")
        ->option_text(fmt::format("{}", fmt::join(standard_latency_policies().names(), "|")));
    choose(command, "--latency", standard_latency_policies().names());
    command
        .add_option("--batch", parsed_.batch,
                    "Price a stream of mappings, one a line as JSON; `-` reads standard input")
        ->type_name("FILE");
    add_schemes(command);
    commands_["evaluate"] = [&command](const ParsedArguments& parsed, const Console& console) {
      if (!parsed.schemes.schemes.empty() || !parsed.schemes.runs.empty())
        return evaluate_schemes(parsed, console);
      if (command.count("--compat") > 0)
        throw Failure(ExitCode::kBadInput, "`--compat` is about the schemes of `--schemes`");
      if (parsed.specs.names.empty())
        throw Failure(ExitCode::kBadInput, "WORKLOAD ARCH MAPPING is required",
                      "see sluice evaluate --help");
      const EvaluateArguments arguments{specs_with_constraints(parsed), parsed.output,
                                        *standard_latency_policies().find(parsed.latency),
                                        parsed.batch};
      return parsed.batch.empty() ? run_evaluate(arguments, console)
                                  : run_evaluate_batch(arguments, console);
    };
  }

  void add_schemes(CLI::App& command) {
    command.get_option("WORKLOAD ARCH MAPPING")->required(false);
    command
        .add_option("--schemes", parsed_.schemes.schemes,
                    "Price mappings of whole networks on grids of nodes, one layer a line as JSON")
        ->type_name("FILE");
    command
        .add_option("--runs", parsed_.schemes.runs, "What network and machine the schemes are for")
        ->type_name("FILE");
    parsed_.schemes.compatible_with = "none";
    command
        .add_option("--compat", parsed_.schemes.compatible_with,
                    "Count schemes as the artifact of this paper does")
        ->option_text("kapla|none");
    choose(command, "--compat", {"kapla", "none"});
  }

  static ExitCode evaluate_schemes(const ParsedArguments& parsed, const Console& console) {
    if (!parsed.specs.names.empty())
      throw Failure(ExitCode::kBadInput,
                    fmt::format("`--schemes` takes no spec files, but there is {}",
                                parsed.specs.names.front()));
    return run_evaluate_schemes(parsed.schemes, console);
  }

  void add_progress(CLI::App& command) {
    command.add_option("--progress", parsed_.progress, "How to show progress")
        ->option_text("auto|plain|json|none");
    choose(command, "--progress", {"auto", "plain", "json", "none"});
  }

  void add_execute() {
    CLI::App& command = *app_.add_subcommand(
        "execute", "Run given mappings step by step on small shapes, and check the model");
    add_specs(command, "WORKLOAD ARCH MAPPING", parsed_);
    add_directives(command, parsed_);
    command.add_flag("--json", parsed_.output.json,
                     "Print the result document, and nothing else, on standard output");
    command
        .add_option(
            "--trace", parsed_.trace,
            "Write the steps into FILE (Perfetto, chrome://tracing) and FILE.txt (a listing)")
        ->type_name("FILE");
    command.add_option("--seed", parsed_.seed, "Seed of the input numbers")
        ->check(seed_fault)
        ->type_name("")
        ->default_str("0");
    command
        .add_option(
            "--inputs", parsed_.inputs,
            "Numbers of inputs, as JSON: {\"A\": [[1, 2], [3, 4]]}; the seed's for all others")
        ->type_name("FILE");
    command
        .add_option("--outputs", parsed_.outputs,
                    "Write the numbers of all tensors into FILE (JSON); needs no mapping")
        ->type_name("FILE");
    add_progress(command);
    commands_["execute"] = [](const ParsedArguments& parsed, const Console& console) {
      return run_execute({parsed.specs, parsed.output.json, parsed.trace, parsed.seed,
                          parsed.inputs, parsed.outputs, progress_style(parsed.progress, console)},
                         console);
    };
  }

  void add_sweep() {
    CLI::App& command = *app_.add_subcommand(
        "sweep", "Search many variants of specs, and keep what was found in a database");
    add_specs(command, "WORKLOAD ARCH", parsed_);
    repeat(command
               .add_option("--vary", parsed_.sweep.vary,
                           "Values of a variable or field: NAME=16KiB..64MiB:x2, NAME=1..9:+2, "
                           "NAME=1,2,8; several options make a grid")
               ->type_name("NAME=VALUES"));
    add_name(command, "-o,--output", parsed_.output.folder,
             "Keep the runs in this SQLite file, and search only what it does not have", "FILE");
    command.add_option("--jobs", parsed_.sweep.jobs, "Searches at a time")
        ->check(CLI::Range(1, 1024).description(""))
        ->type_name("")
        ->default_str("one a processor");
    command.add_option("--csv", parsed_.sweep.csv, "Write a table of all runs")->type_name("FILE");
    repeat(command
               .add_option("--plot", parsed_.sweep.plots,
                           "Plot column Y over column X into FILE (.svg, .png, .pdf; default: the "
                           "database's name with .svg)")
               ->type_name("X,Y[,FILE]"));
    command.add_flag("--json", parsed_.output.json,
                     "Print the document, and nothing else, on standard output");
    add_ascii(command, parsed_);
    add_constraints(command);
    add_progress(command);
    add_search_options(command, parsed_);
    commands_["sweep"] = [&command](const ParsedArguments& parsed, const Console& console) {
      SweepArguments arguments = parsed.sweep;
      arguments.specs = specs_with_constraints(parsed);
      arguments.output = parsed.output;
      arguments.options = given_options(parsed, command);
      arguments.progress = progress_style(parsed.progress, console);
      if (command.count("--jobs") == 0)
        arguments.jobs = std::max(1u, std::thread::hardware_concurrency());
      return run_sweep_command(arguments, console);
    };
  }

  void add_design() {
    CLI::App& command = *app_.add_subcommand(
        "design", "Find the best sizes, fanouts and bandwidths within budgets of area and power");
    command.add_option("DESIGN", parsed_.design.file, "A file with a `design:` section")
        ->required()
        ->option_text(" ");
    add_spec_settings(command, parsed_.specs);
    add_name(command, "-o,--output", parsed_.output.folder,
             "Write result.json, arch.yaml and a mapping for each workload into this folder",
             "DIR");
    command.add_flag("--json", parsed_.output.json,
                     "Print the document, and nothing else, on standard output");
    add_ascii(command, parsed_);
    add_progress(command);
    add_search_options(command, parsed_, {"top"});
    commands_["design"] = [&command](const ParsedArguments& parsed, const Console& console) {
      DesignArguments arguments = parsed.design;
      arguments.specs = parsed.specs;
      arguments.output = parsed.output;
      arguments.options = given_options(parsed, command);
      arguments.progress = progress_style(parsed.progress, console);
      return run_design(arguments, console);
    };
  }

  void add_compare() {
    CLI::App& command = *app_.add_subcommand("compare", "Say in what results differ");
    command
        .add_option("RESULT", parsed_.specs.names,
                    "Result documents, or folders that -o wrote; of a single one its mappings")
        ->required()
        ->option_text(" ");
    command.add_flag("--json", parsed_.output.json,
                     "Print the document, and nothing else, on standard output");
    add_ascii(command, parsed_);
    commands_["compare"] = [](const ParsedArguments& parsed, const Console& console) {
      return run_compare({parsed.specs.names, parsed.output.json}, console);
    };
  }

  void add_import() {
    CLI::App& command = *app_.add_subcommand(
        "import", "Turn specs of Timeloop or AccelForge, or an ONNX model, into Sluice's");
    command
        .add_option(
            "FILE", parsed_.specs.names,
            "The files of one job together: architecture, problem, mapping, constraints; or "
            "one ONNX model")
        ->required()
        ->option_text(" ");
    add_name(command, "-o,--output", parsed_.output.folder,
             "Write arch.yaml, workload.yaml, mapping.yaml and constraints.yaml into this folder",
             "DIR")
        ->required();
    command
        .add_option("--ert", parsed_.energy_file,
                    "Energies per action: Accelergy's ERT, or a map COMPONENT: {ACTION: energy}")
        ->type_name("FILE");
    repeat(command
               .add_option("--set", parsed_.specs.assignments,
                           "Set a variable of the files' templates, or a symbolic dimension")
               ->type_name("NAME=VALUE"));
    command.add_flag("--json", parsed_.output.json,
                     "Print what was imported as a document (docs/onnx.md)");
    commands_["import"] = [](const ParsedArguments& parsed, const Console& console) {
      return run_import({parsed.specs.names, parsed.specs.assignments, parsed.output.folder,
                         parsed.energy_file, parsed.output.json},
                        console);
    };
  }

  void add_check() {
    CLI::App& command = *app_.add_subcommand("check", "Say everything that is wrong with specs");
    add_specs(command, "FILE", parsed_);
    add_directives(command, parsed_);
    command.add_flag("--json", parsed_.output.json, "Print the diagnostics as a result document");
    commands_["check"] = [](const ParsedArguments& parsed, const Console& console) {
      return run_check({parsed.specs, parsed.output.json}, console);
    };
  }

  void add_show() {
    CLI::App& command = *app_.add_subcommand("show", "Draw workloads, architectures and mappings");
    add_specs(command, "FILE", parsed_);
    add_ascii(command, parsed_);
    command.add_flag("--yaml", parsed_.yaml, "Print canonical YAML that reads back the same");
    command.get_option("FILE")->required(false);
    command
        .add_option(
            "--directives", parsed_.specs.directives,
            "A mapping as KAPLA's directives, or the schemes of a file (one a line as JSON). "
            "Without spec files they are printed as canonical text")
        ->type_name("FILE");
    command.add_flag("--as-directives", parsed_.as_directives,
                     "Print mappings as KAPLA's directives");
    commands_["show"] = [](const ParsedArguments& parsed, const Console& console) {
      if (!parsed.specs.names.empty())
        return run_show({parsed.specs, parsed.yaml, parsed.as_directives}, console);
      if (parsed.specs.directives.empty())
        throw Failure(ExitCode::kBadInput, "FILE is required", "see sluice show --help");
      return run_show_directives(parsed.specs.directives, console);
    };
  }

  void add_report() {
    CLI::App& command = *app_.add_subcommand("report", "Make a page that shows results");
    command
        .add_option("RESULT", parsed_.report.results,
                    "What `map` and `evaluate` wrote with -o: result.json, or its folder; several "
                    "are shown side by side. Or what `sweep` wrote with -o")
        ->required()
        ->option_text(" ");
    parsed_.report.file = "report.html";
    add_name(command, "-o,--output", parsed_.report.file,
             "The page: one HTML file that needs no network", "FILE")
        ->default_str(parsed_.report.file);
    commands_["report"] = [](const ParsedArguments& parsed, const Console& console) {
      return run_report(parsed.report, console);
    };
  }

  void add_list() {
    CLI::App& command = *app_.add_subcommand("list", "List what there is to choose from");
    command.add_option("KIND", parsed_.list_kind, fmt::format("{}", fmt::join(list_kinds(), ", ")))
        ->required()
        ->option_text(" ");
    choose(command, "KIND", list_kinds());
    commands_["list"] = [](const ParsedArguments& parsed, const Console& console) {
      return run_list(parsed.list_kind, console);
    };
  }

  void add_schema() {
    CLI::App& command = *app_.add_subcommand(
        "schema", "Print the JSON Schema of spec files, sweeps, designs or results");
    command
        .add_option("KIND", parsed_.list_kind, fmt::format("{}", fmt::join(schema_kinds(), ", ")))
        ->required()
        ->option_text(" ");
    choose(command, "KIND", schema_kinds());
    commands_["schema"] = [](const ParsedArguments& parsed, const Console& console) {
      return run_schema(parsed.list_kind, console);
    };
  }

  void add_completion() {
    CLI::App& command =
        *app_.add_subcommand("completion", "Print a script that completes words in a shell");
    command
        .add_option("SHELL", parsed_.list_kind,
                    fmt::format("{}", fmt::join(completion_shells(), ", ")))
        ->required()
        ->option_text(" ");
    choose(command, "SHELL", completion_shells());
    commands_["completion"] = [this](const ParsedArguments& parsed, const Console& console) {
      console.out << completion_script(parsed.list_kind, command_table());
      return ExitCode::kSuccess;
    };
  }

  void add_man() {
    app_.add_subcommand("man", "Print the manual page: sluice man | man -l -");
    commands_["man"] = [this](const ParsedArguments&, const Console& console) {
      console.out << manual_page(command_table());
      return ExitCode::kSuccess;
    };
  }

  /// The option takes one of these words.
  void choose(CLI::App& command, const std::string& name, const std::vector<std::string>& words) {
    CLI::Option* const option = command.get_option(name);
    option->check(one_of(words));
    words_[option] = words;
  }

  /// All that CLI11 knows of the commands, and the names there are to choose from.
  std::vector<CommandEntry> command_table() const {
    std::vector<CommandEntry> table;
    for (const CLI::App* command : app_.get_subcommands([](const CLI::App*) { return true; })) {
      CommandEntry entry{command->get_name(), command->get_description(), {}, {}};
      for (const CLI::Option* option : command->get_options())
        (option->get_positional() ? entry.positionals : entry.options)
            .push_back(option_entry(*option));
      table.push_back(std::move(entry));
    }
    return table;
  }

  OptionEntry option_entry(const CLI::Option& option) const {
    OptionEntry entry;
    for (const std::string& name : option.get_snames()) entry.names.push_back("-" + name);
    for (const std::string& name : option.get_lnames()) entry.names.push_back("--" + name);
    if (option.get_positional()) entry.names = {option.get_name(true)};
    entry.help = option.get_description();
    entry.takes_value = option.get_items_expected_max() > 0;
    entry.value =
        option.get_option_text().empty() ? option.get_type_name() : option.get_option_text();
    entry.words = words_of(option, entry.names.front());
    return entry;
  }

  std::vector<std::string> words_of(const CLI::Option& option, const std::string& name) const {
    const auto known = words_.find(&option);
    if (known != words_.end()) return known->second;
    std::vector<std::string> words;
    if (name == "--mapper")
      for (const auto& mapper : all_mappers()) words.push_back(mapper->name());
    if (name == "--objective")
      for (const ObjectiveInfo& info : objective_table()) words.push_back(info.name);
    if (name == "--latency") words = standard_latency_policies().names();
    if (option.get_positional() && name != "RESULT" && name != "KIND" && name != "SHELL")
      for (const char* folder : {kWorkloadFolder, kArchitectureFolder, kShapeFolder})
        for (const LibraryEntry& entry : library_entries(folder)) words.push_back(entry.name);
    return words;
  }

  std::vector<std::string> names_of_commands() const {
    std::vector<std::string> names;
    for (const auto& [name, command] : commands_) names.push_back(name);
    return names;
  }

  CLI::App app_{
      "Sluice decides how tensors flow through a machine-learning accelerator, and says "
      "what that costs."};
  ParsedArguments parsed_;
  std::map<std::string, Command> commands_;
  std::map<const CLI::Option*, std::vector<std::string>> words_;  ///< to choose from
};

bool wants_json(const std::vector<std::string>& arguments) {
  for (const std::string& argument : arguments)
    if (argument == "--json") return true;
  return false;
}

ExitCode report(ExitCode code, const Diagnostics& diagnostics,
                const std::vector<std::string>& arguments, const Console& console) {
  print_diagnostics(console, diagnostics);
  if (!wants_json(arguments)) return code;
  RunResult result;
  result.command = arguments.front();
  result.status = code == ExitCode::kHonestNo ? RunStatus::kNoMapping : RunStatus::kError;
  result.diagnostics = diagnostics;
  console.out << document_text(result) << std::flush;
  return code;
}

ExitCode report_bug(const std::exception& bug, const std::vector<std::string>& arguments,
                    const Console& console) {
  const std::string hint = fmt::format(
      "please report it with the command line, the spec files and the output of sluice --version "
      "({})",
      version());
  const Diagnostics diagnostics(
      1, error_without_place(fmt::format("this is a bug in Sluice: {}", bug.what()), hint));
  return report(ExitCode::kInternalBug, diagnostics, arguments, console);
}

}  // namespace

ExitCode run_command_line(const std::vector<std::string>& arguments, Console console) {
  try {
    const ExitCode code = CommandLine().run(arguments, console);
    if (!(console.out << std::flush))
      throw Failure(ExitCode::kFileTrouble, "cannot write to standard output");
    return code;
  } catch (const Failure& failure) {
    return report(failure.code(), failure.diagnostics(), arguments, console);
  } catch (const OverflowError& overflow) {
    const Diagnostics diagnostics(
        1, error_without_place(fmt::format("the problem is too large: {}", overflow.what())));
    return report(ExitCode::kBadInput, diagnostics, arguments, console);
  } catch (const std::exception& bug) {
    return report_bug(bug, arguments, console);
  }
}

}  // namespace sluice::cli
