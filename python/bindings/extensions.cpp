#include "extensions.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "problem_view.h"
#include "python_object.h"
#include "report/document/result_document.h"
#include "sluice/mapper/incumbent.h"
#include "sluice/mapper/objective_value.h"
#include "sluice/mapper/options_table.h"
#include "sluice/network/layers_mapper.h"
#include "watched.h"

namespace sluice::python {
namespace nb = nanobind;
namespace {

std::string name_of(const nb::object& object) { return nb::cast<std::string>(object.attr("name")); }

/// What a mapper in Python sees of the search: alive as long as its `map` runs.
class ControlView {
 public:
  ControlView(const MapperControl& control, const Raised& raised, ProblemView& problem,
              const MapperOptions& options)
      : control_(&control), raised_(raised), problem_(problem), options_(options) {}

  /// The best mapping that was offered.
  const std::optional<MappedResult>& offered() const { return offered_; }

  bool is_cancelled() const {
    return control_ == nullptr || sluice::is_cancelled(control_->cancel) || raised_.happened();
  }
  void progress(const std::string& phase, double fraction) const {
    if (std::isnan(fraction)) throw nb::value_error("the fraction of a phase is not a number");
    if (control_ != nullptr && control_->progress)
      control_->progress(phase, std::clamp(fraction, 0.0, 1.0));
  }
  /// False for an illegal mapping.
  bool offer(const std::string& json) {
    if (control_ == nullptr) return true;
    Mapping mapping = problem_.read(json);
    auto cost = problem_.price(mapping);
    if (!cost) return false;
    const double value = objective_value(options_.objectives.front(), *cost);
    if (!offered_ || value < objective_value(options_.objectives.front(), offered_->cost))
      offered_ = {mapping, *cost};
    if (control_->incumbent != nullptr)
      control_->incumbent->offer(value, {std::move(mapping), std::move(*cost)});
    return true;
  }
  void end() { control_ = nullptr; }

 private:
  const MapperControl* control_;
  const Raised& raised_;
  ProblemView& problem_;
  const MapperOptions& options_;
  std::optional<MappedResult> offered_;
};

/// What a latency policy in Python sees of a mapping: alive as long as its `latency` runs.
class CountedView {
 public:
  explicit CountedView(const CountedMapping& counted) : counted_(&counted) {}
  double overlap_s() const { return get().overlap_s(); }
  std::string account() const {
    const CountedMapping& counted = get();
    return cli::outcome_to_json({counted.mapping(), counted.overlap_account()}, counted.problem())
        .dump();
  }
  void end() { counted_ = nullptr; }

 private:
  const CountedMapping& get() const {
    if (counted_ == nullptr)
      throw std::runtime_error("a counted mapping is of use only while latency() runs");
    return *counted_;
  }
  const CountedMapping* counted_;
};

/// A view of something that lives for one call: of no use afterwards, whoever kept it.
template <class View>
class ForOneCall {
 public:
  explicit ForOneCall(std::shared_ptr<View> view) : view_(std::move(view)) {}
  ~ForOneCall() { view_->end(); }
  ForOneCall(const ForOneCall&) = delete;
  ForOneCall& operator=(const ForOneCall&) = delete;
  const std::shared_ptr<View>& operator*() const { return view_; }

 private:
  std::shared_ptr<View> view_;
};

class PythonMapper final : public Mapper {
 public:
  PythonMapper(const nb::object& object, std::shared_ptr<Raised> raised)
      : object_(share(object)),
        raised_(std::move(raised)),
        name_(name_of(object)),
        description_(nb::cast<std::string>(object.attr("description"))) {}

  std::string name() const override { return name_; }
  std::string description() const override { return description_; }

  tl::expected<MapperResult, NoMapping> map(const BoundProblem& problem,
                                            const MapperOptions& options,
                                            const MapperControl& control) const override {
    const nb::gil_scoped_acquire acquire;
    auto view = std::make_shared<ProblemView>(problem, options.policy, options.constraints);
    const ForOneCall control_view(std::make_shared<ControlView>(control, *raised_, *view, options));
    auto found = search(view, *control_view, options);
    if (!is_cancelled(control.cancel)) return found;
    if (!found && found.error().proven) return found;
    if (!found) found = MapperResult{};  // what it did not find may still exist
    if (const auto& offered = (*control_view)->offered(); offered && found->mappings.empty())
      found->mappings = {*offered};
    found->cancelled = true;
    return found;
  }

 private:
  tl::expected<MapperResult, NoMapping> search(const std::shared_ptr<ProblemView>& view,
                                               const std::shared_ptr<ControlView>& control,
                                               const MapperOptions& options) const {
    try {
      const Raised::Running running(*raised_);
      const nb::object found = object_->attr("_map")(view, option_texts(options), control);
      if (nb::isinstance<nb::str>(found)) return no_mapping(nb::cast<std::string>(found));
      auto mappings = result(*view, nb::cast<std::vector<std::string>>(found), options);
      if (!mappings.mappings.empty() || control->is_cancelled()) return mappings;
      throw std::runtime_error(
          "it returned no mapping; where there is none, return NoMapping(...)");
    } catch (const nb::python_error& error) {
      if (!control->is_cancelled() || !error.matches(PyExc_KeyboardInterrupt)) keep_exception();
    } catch (...) {
      keep_exception();
    }
    NoMapping failed;
    failed.proven = false;
    failed.reason = "the mapper '" + name_ + "' failed";
    return tl::make_unexpected(failed);
  }

  void keep_exception() const { raised_->keep("the mapper '" + name_ + "'"); }

  static std::map<std::string, std::string> option_texts(const MapperOptions& options) {
    std::map<std::string, std::string> texts;
    for (const MapperOption& option : mapper_option_table())
      texts[option.name] = option.get(options);
    return texts;
  }

  /// `{"reason", "nearest_relaxation", "proven"}`
  static tl::expected<MapperResult, NoMapping> no_mapping(const std::string& json) {
    const cli::Json text = cli::Json::parse(json);
    NoMapping no;
    no.reason = text.at("reason").get<std::string>();
    no.nearest_relaxation = text.at("nearest_relaxation").get<std::string>();
    no.proven = text.at("proven").get<bool>();
    return tl::make_unexpected(no);
  }

  /// Of one objective the best `top` of them, best first; of several all, as they came.
  static MapperResult result(ProblemView& view, const std::vector<std::string>& mappings,
                             const MapperOptions& options) {
    MapperResult found;
    found.search.mappings_evaluated = static_cast<double>(mappings.size());
    for (const std::string& json : mappings) {
      Mapping mapping = view.read(json);
      auto cost = view.price(mapping);
      if (!cost)
        throw std::runtime_error("it returned an illegal mapping: " + cost.error().front().message);
      found.mappings.push_back({std::move(mapping), std::move(*cost)});
    }
    if (options.objectives.size() > 1) return found;
    const auto value = [&](const MappedResult& mapped) {
      return objective_value(options.objectives.front(), mapped.cost);
    };
    std::stable_sort(found.mappings.begin(), found.mappings.end(),
                     [&](const auto& a, const auto& b) { return value(a) < value(b); });
    const std::size_t most = std::min<std::size_t>(found.mappings.size(), options.top);
    found.mappings.erase(found.mappings.begin() + most, found.mappings.end());
    return found;
  }

  SharedObject object_;
  std::shared_ptr<Raised> raised_;
  std::string name_, description_;
};

class PythonPolicy final : public LatencyMethod {
 public:
  PythonPolicy(const nb::object& object, std::shared_ptr<Raised> raised)
      : object_(share(object)),
        raised_(std::move(raised)),
        name_(name_of(object)),
        prices_collectives_(nb::cast<bool>(object.attr("prices_collectives"))),
        prices_splits_(nb::cast<bool>(object.attr("prices_concurrent_splits"))) {}

  std::string name() const override { return name_; }
  bool prices_collectives() const override { return prices_collectives_; }
  bool prices_concurrent_splits() const override { return prices_splits_; }

  LatencyBreakdown latency(const CountedMapping& counted) const override {
    if (raised_->happened()) return {};
    const nb::gil_scoped_acquire acquire;
    LatencyBreakdown breakdown;
    try {
      const ForOneCall view(std::make_shared<CountedView>(counted));
      const nb::object parts = object_->attr("_latency")(*view);
      for (auto& [name, seconds] : nb::cast<std::vector<std::pair<std::string, double>>>(parts))
        breakdown.push_back({std::move(name), seconds});
    } catch (...) {
      raised_->keep("the latency policy '" + name_ + "'");
      return {};
    }
    return breakdown;
  }

 private:
  SharedObject object_;
  std::shared_ptr<Raised> raised_;
  std::string name_;
  bool prices_collectives_, prices_splits_;
};

class PythonComponentClass final : public ComponentClass {
 public:
  PythonComponentClass(const nb::object& object, std::shared_ptr<Raised> raised)
      : object_(share(object)),
        raised_(std::move(raised)),
        name_(name_of(object)),
        source_(nb::cast<std::string>(object.attr("source"))),
        kinds_(nb::cast<std::vector<std::string>>(object.attr("_kinds")())) {
    for (const nb::handle item : object.attr("attributes")) attributes_.push_back(attribute(item));
  }

  std::string name() const override { return name_; }
  std::string source() const override { return source_; }
  std::vector<ComponentAttribute> attributes() const override { return attributes_; }
  bool fits(const std::string& kind) const override {
    return std::find(kinds_.begin(), kinds_.end(), kind) != kinds_.end();
  }

  ComponentNumbers numbers(const std::map<std::string, double>& values) const override {
    const nb::gil_scoped_acquire acquire;
    try {
      return numbers_of(object_->attr("_numbers")(values));
    } catch (...) {
      raised_->keep("the component class '" + name_ + "'");
      return {};
    }
  }

 private:
  static ComponentAttribute attribute(nb::handle item) {
    return {nb::cast<std::string>(item.attr("name")),
            nb::cast<std::string>(item.attr("unit")),
            nb::cast<std::optional<double>>(item.attr("usual")),
            nb::cast<std::string>(item.attr("from_key")),
            nb::cast<double>(item.attr("minimum")),
            nb::cast<double>(item.attr("maximum"))};
  }

  static ComponentNumbers numbers_of(const nb::object& given) {
    using Number = std::optional<double>;
    ComponentNumbers numbers;
    for (const nb::handle item : given.attr("actions"))
      numbers.actions.push_back({nb::cast<std::string>(item.attr("name")),
                                 nb::cast<Number>(item.attr("energy_j")),
                                 nb::cast<Number>(item.attr("energy_j_per_bit")),
                                 nb::cast<Number>(item.attr("throughput")),
                                 nb::cast<Number>(item.attr("throughput_bits"))});
    numbers.area_m2 = nb::cast<Number>(given.attr("area_m2"));
    numbers.leak_power_w = nb::cast<Number>(given.attr("leak_power_w"));
    numbers.hop_energy_j_per_bit = nb::cast<Number>(given.attr("hop_energy_j_per_bit"));
    return numbers;
  }

  SharedObject object_;
  std::shared_ptr<Raised> raised_;
  std::string name_, source_;
  std::vector<std::string> kinds_;
  std::vector<ComponentAttribute> attributes_;
};

}  // namespace

Extensions extensions_of(const nb::list& items) {
  Extensions extensions;
  extensions.mappers = all_mappers();
  extensions.policies = standard_latency_policies();
  for (const nb::handle item : items) {
    const nb::object object = nb::borrow(item);
    const auto kind = nb::cast<std::string>(object.attr("_kind"));
    if (kind == "mapper")
      extensions.mappers.emplace<PythonMapper>(object, extensions.raised);
    else if (kind == "latency_policy")
      extensions.policies.emplace<PythonPolicy>(object, extensions.raised);
    else
      extensions.classes.emplace<PythonComponentClass>(object, extensions.raised);
  }
  return extensions;
}

void bind_views(nb::module_& module) {
  using Released = nb::call_guard<Unlocked>;
  nb::class_<ProblemView>(module, "Problem")
      .def("evaluate", &ProblemView::evaluate, Released())
      .def("totals", &ProblemView::totals, Released())
      .def("tree", &ProblemView::tree)
      .def("description", &ProblemView::description);
  nb::class_<ControlView>(module, "Control")
      .def_prop_ro("cancelled", &ControlView::is_cancelled)
      .def("progress", &ControlView::progress)
      .def("offer", &ControlView::offer);
  nb::class_<CountedView>(module, "Counted")
      .def_prop_ro("overlap_s", &CountedView::overlap_s)
      .def("account", &CountedView::account);
}

}  // namespace sluice::python
