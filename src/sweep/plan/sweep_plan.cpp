#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <numeric>
#include <random>
#include <set>

#include "sluice/support/failed.h"
#include "sluice/sweep/sweep.h"
#include "sweep/plan/field_conflicts.h"
#include "sweep/store/content_key.h"

namespace sluice {
namespace {

constexpr std::size_t kMostPoints = 10'000;

/// The settings of one point, and its place in the grid (empty: it is in none).
struct Place {
  SweepSettings settings;
  std::vector<std::size_t> index;
};

/// Numbers from 0 to 1 that are the same on every machine.
class Draws {
 public:
  explicit Draws(std::uint64_t seed) : generator_(seed) {}
  double next() { return static_cast<double>(generator_() >> 11) * 0x1p-53; }
  std::size_t below(std::size_t n) {
    return std::min(n - 1, static_cast<std::size_t>(next() * static_cast<double>(n)));
  }

 private:
  std::mt19937_64 generator_;
};

/// 0, 1, … in a random order.
std::vector<std::size_t> shuffled(std::size_t n, Draws& draws) {
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t i = n; i > 1; --i) std::swap(order[i - 1], order[draws.below(i)]);
  return order;
}

std::string value_at(const std::string& range, double share) {
  if (!lists_values(range)) return drawn_range(range, range)->at(share);
  const auto values = *varied_values(range, range);
  const auto last = static_cast<double>(values.size());
  return values[std::min(values.size() - 1, static_cast<std::size_t>(share * last))];
}

std::vector<Place> drawn(const SweepDraw& draw) {
  Draws draws(draw.seed);
  std::vector<Place> places(draw.n_samples);
  for (const auto& [name, range] : draw.ranges) {
    const auto parts = shuffled(draw.n_samples, draws);
    for (std::size_t i = 0; i < places.size(); ++i) {
      double share = draws.next();
      if (draw.is_latin_hypercube)
        share = (static_cast<double>(parts[i]) + share) / static_cast<double>(draw.n_samples);
      places[i].settings.emplace_back(name, value_at(range, share));
    }
  }
  return places;
}

std::vector<Place> grid_places(const std::vector<VariedField>& grid) {
  std::vector<Place> places = {{}};
  for (const VariedField& field : grid) {
    std::vector<Place> longer;
    for (const Place& place : places)
      for (std::size_t v = 0; v < field.values.size(); ++v) {
        longer.push_back(place);
        longer.back().settings.emplace_back(field.name, field.values[v]);
        longer.back().index.push_back(v);
      }
    places = std::move(longer);
  }
  return places;
}

/// A sweep that says nothing of points has one: that of an empty grid.
bool has_grid(const SweepRequest& request) {
  return !request.grid.empty() || (request.list.empty() && request.draws.empty());
}

std::size_t n_points(const SweepRequest& request) {
  double points = has_grid(request) ? 1 : 0;
  for (const VariedField& field : request.grid) points *= static_cast<double>(field.values.size());
  for (const SweepDraw& draw : request.draws) points += static_cast<double>(draw.n_samples);
  points += static_cast<double>(request.list.size());
  points *= static_cast<double>(request.workloads.size()) *
            static_cast<double>(std::max<std::size_t>(1, request.architectures.size()));
  return points > 1e9 ? std::size_t{1'000'000'000} : static_cast<std::size_t>(points);
}

std::vector<Place> places_of(const SweepRequest& request) {
  std::vector<Place> places;
  if (has_grid(request)) places = grid_places(request.grid);
  for (const SweepSettings& settings : request.list) places.push_back({settings, {}});
  for (const SweepDraw& draw : request.draws)
    for (Place& place : drawn(draw)) places.push_back(std::move(place));
  return places;
}

/// Without its lowest bit: how often it must be done to get to 0 grows with the logarithm.
std::size_t without_lowest_bit(std::size_t index) { return index & (index - 1); }

class Planner {
 public:
  Planner(const SweepRequest& request, const LoadOptions& options) : options_(options) {
    plan_.request = request;
    if (plan_.request.architectures.empty()) plan_.request.architectures = {""};
  }

  Result<SweepPlan> run() {
    const std::vector<Place> places = places_of(plan_.request);
    for (const std::string& workload : plan_.request.workloads)
      for (const std::string& arch : plan_.request.architectures) {
        const std::size_t begin = plan_.points.size();
        for (const Place& place : places)
          if (auto added = add(workload, arch, place); !added)
            return tl::unexpected(std::move(added.error()));
        find_donors(places, begin);
        if (auto hidden = hidden_among(places, begin))
          return tl::unexpected(Diagnostics{std::move(*hidden)});
      }
    std::string text;
    for (const SweepPoint& point : plan_.points)
      text += point.key + fmt::format("{}\n", fmt::join(point.files, ","));
    plan_.key = content_key(text);
    return std::move(plan_);
  }

 private:
  Result<void> add(const std::string& workload, const std::string& arch, const Place& place) {
    SweepPoint point;
    point.files = {workload};
    if (!arch.empty()) point.files.push_back(arch);
    point.files.insert(point.files.end(), plan_.request.files.begin(), plan_.request.files.end());
    add_name(plan_.request.workloads, "workload", workload, &point);
    add_name(plan_.request.architectures, "architecture", arch, &point);
    point.settings.insert(point.settings.end(), place.settings.begin(), place.settings.end());
    const auto inputs = sweep_inputs(plan_.request, point, options_);
    if (!inputs) return tl::unexpected(inputs.error());
    point.workload = inputs->problem.workload.name;
    point.arch = inputs->problem.arch.name;
    point.key = sweep_key(*inputs);
    workloads_.push_back(content_key(to_yaml(inputs->problem.workload)));
    plan_.points.push_back(std::move(point));
    return {};
  }

  static void add_name(const std::vector<std::string>& all, const char* what,
                       const std::string& file, SweepPoint* point) {
    if (all.size() > 1)
      point->settings.emplace_back(what, std::filesystem::path(file).stem().string());
  }

  /// A variable and a path that give one thing, among what some places set. Places that set the
  /// same names are looked at together.
  std::optional<Diagnostic> hidden_among(const std::vector<Place>& places,
                                         std::size_t begin) const {
    std::map<std::set<std::string>, std::pair<std::size_t, std::size_t>> ends;  // by names
    for (std::size_t p = 0; p < places.size(); ++p) {
      std::set<std::string> names;
      for (const auto& [name, value] : places[p].settings) names.insert(name);
      ends.try_emplace(names, p, p).first->second.second = p;
    }
    for (const auto& [names, places_of_names] : ends) {
      const auto settings_at = [&](std::size_t p) {
        SweepSettings all = plan_.request.settings;
        all.insert(all.end(), places[p].settings.begin(), places[p].settings.end());
        return all;
      };
      const auto [first, last] = places_of_names;
      if (auto hidden = hidden_field(plan_.request, plan_.points[begin].files, settings_at(first),
                                     settings_at(last), names, options_))
        return hidden;
    }
    return std::nullopt;
  }

  /// In a grid the same place with a smaller index along the last field that leaves the workload
  /// as it is, else the place of a smaller index. So the way back to the first point is short, and
  /// most points do not wait for most others.
  void find_donors(const std::vector<Place>& places, std::size_t begin) {
    for (std::size_t p = 0; p < places.size(); ++p) {
      std::optional<std::size_t> donor;
      if (places[p].index.empty()) {
        if (p > 0) donor = begin + without_lowest_bit(p);
      } else {
        std::size_t stride = 1;
        for (std::size_t f = places[p].index.size(); f-- > 0 && !donor;) {
          const std::size_t index = places[p].index[f];
          const std::size_t other =
              p - (index - (index > 0 ? without_lowest_bit(index) : 0)) * stride;
          if (other != p && workloads_[begin + other] == workloads_[begin + p])
            donor = begin + other;
          stride *= plan_.request.grid[f].values.size();
        }
      }
      if (donor && workloads_[*donor] == workloads_[begin + p])
        plan_.points[begin + p].donor = donor;
    }
  }

  const LoadOptions& options_;
  SweepPlan plan_;
  std::vector<std::string> workloads_;  ///< per point, what stands for its workload
};

}  // namespace

Result<SweepPlan> plan_sweep(const SweepRequest& request, const LoadOptions& options) {
  if (request.workloads.empty()) return failed("the sweep names no workload", "");
  if (const std::size_t n = n_points(request); n > kMostPoints)
    return failed(fmt::format("the sweep has {} points, more than {}", n, kMostPoints),
                  request.draws.empty() ? "draw some of them (random, latin_hypercube), or split it"
                                        : "draw fewer, or split it");
  if (Diagnostics repeated = repeated_fields(request); !repeated.empty())
    return tl::unexpected(std::move(repeated));
  return Planner(request, options).run();
}

}  // namespace sluice
