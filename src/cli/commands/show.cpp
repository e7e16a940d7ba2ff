#include <ostream>

#include "cli/io/failure.h"
#include "commands.h"
#include "report/text/spec_drawings.h"
#include "sluice/kapla/directives.h"
#include "sluice/kapla/loop_tree.h"
#include "sluice/mapping/drawing.h"
#include "sluice/mapping/normal_form.h"

namespace sluice::cli {
namespace {

void show_yaml(const Specs& specs, const Console& console) {
  if (specs.workload) console.out << to_yaml(*specs.workload);
  if (specs.arch) console.out << to_yaml(*specs.arch);
  if (specs.constraints && specs.workload && specs.arch)
    console.out << to_yaml(*specs.constraints, *specs.workload, *specs.arch);
  bool is_first = true;
  for (const Mapping& mapping : specs.mappings) {
    if (!is_first) console.out << "---\n";
    is_first = false;
    console.out << to_yaml(mapping, *specs.workload, *specs.arch);
  }
}

void show_drawings(const Specs& specs, const Console& console) {
  bool is_first = true;
  const auto paragraph = [&](const std::string& text) {
    console.out << (is_first ? "" : "\n") << text;
    is_first = false;
  };
  if (specs.workload) paragraph(workload_drawing(*specs.workload, console.ascii));
  if (specs.arch) paragraph(arch_drawing(*specs.arch, console.ascii));
  DrawingOptions options;
  options.ascii = console.ascii;
  for (const Mapping& mapping : specs.mappings)
    paragraph(to_drawing(normal_form(mapping, *specs.workload, *specs.arch), *specs.workload,
                         *specs.arch, options));
}

/// Of mappings that are not the result of a search, too: they need not be legal.
void show_as_directives(const Specs& specs, const SpecArguments& arguments,
                        const Console& console) {
  const BoundProblem problem = bind_or_fail(specs, arguments);
  if (specs.mappings.empty())
    throw Failure(
        Diagnostics{missing_section(arguments, "no mapping: none of the files has `mapping:`",
                                    "name one last: sluice show WORKLOAD ARCH MAPPING")});
  for (const Mapping& mapping : specs.mappings) {
    const auto layers = kapla::to_directives(mapping, problem);
    if (!layers) throw Failure(ExitCode::kHonestNo, layers.error());
    console.out << kapla::to_text(*layers);
  }
}

}  // namespace

ExitCode run_show(const ShowArguments& arguments, const Console& console) {
  const Specs specs = load(arguments.specs);
  print_diagnostics(console, specs.warnings);
  if (arguments.as_directives)
    show_as_directives(specs, arguments.specs, console);
  else if (arguments.yaml)
    show_yaml(specs, console);
  else
    show_drawings(specs, console);
  return ExitCode::kSuccess;
}

}  // namespace sluice::cli
