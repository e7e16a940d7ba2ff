#include "sluice/sweep/sweep_database.h"

#include <fmt/format.h>

#include <fstream>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "sluice/support/failed.h"
#include "sweep/store/content_key.h"
#include "sweep/store/sqlite.h"
#include "sweep/store/sweep_schema.h"

namespace sluice {
namespace {

/// What SQLite says, in terms of the file.
tl::unexpected<Diagnostics> mistake_of(const SqliteError& error, const std::string& path) {
  const int code = error.primary_code();
  if (code == SQLITE_NOTADB)
    return failed(fmt::format("{} is no SQLite database", path),
                  "name a file that does not exist yet, or one that sweep made",
                  DiagnosticCause::kContent);
  const bool is_full = code == SQLITE_FULL || code == SQLITE_IOERR;
  return failed(
      fmt::format("cannot {} {}: {}", code == SQLITE_CANTOPEN ? "open" : "write", path,
                  error.what()),
      is_full ? "the runs that were saved are in it; the same call goes on from them" : "",
      DiagnosticCause::kUnreadable);
}

std::string settings_json(const SweepSettings& settings) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  for (const auto& [name, value] : settings) json[name] = value;
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

SweepSettings settings_from(const std::string& text) {
  SweepSettings settings;
  const auto json = nlohmann::ordered_json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_object())
    for (const auto& [name, value] : json.items())
      settings.emplace_back(name, value.is_string() ? value.get<std::string>() : value.dump());
  return settings;
}

}  // namespace

bool is_sweep_database(const std::string& path) {
  constexpr std::string_view kBegin("SQLite format 3\0", 16);
  std::ifstream file(path, std::ios::binary);
  std::string begin(kBegin.size(), ' ');
  return file.read(begin.data(), static_cast<std::streamsize>(begin.size())) && begin == kBegin;
}

class SweepDatabase::Impl {
 public:
  explicit Impl(const std::string& path) : path_(path), sqlite_(path.empty() ? ":memory:" : path) {}

  /// Makes the tables of a new file. Says what is wrong with one of something else.
  Result<void> prepare() {
    const std::int64_t application = sqlite_.pragma("application_id");
    const std::vector<std::string> tables = names_of_tables();
    if (application != kSweepApplication && !tables.empty())
      return failed(fmt::format("{} is a database of something else: it has the table{} {}", path_,
                                tables.size() == 1 ? "" : "s", fmt::join(tables, ", ")),
                    "name a file that does not exist yet, or one that sweep made",
                    DiagnosticCause::kContent);
    const std::int64_t version = sqlite_.pragma("user_version");
    if (!tables.empty() && version != kSweepSchemaVersion)
      return failed(fmt::format("{} is of another version of Sluice: its tables are those of "
                                "version {}, not {}",
                                path_, version, kSweepSchemaVersion),
                    "name another file", DiagnosticCause::kContent);
    sqlite_.prepare("PRAGMA journal_mode = WAL").step();
    sqlite_.run("PRAGMA synchronous = FULL; PRAGMA foreign_keys = OFF");
    if (tables.empty()) make_tables();
    return {};
  }

  template <class Work>
  auto guarded(const Work& work) const -> Result<decltype(work())> try {
    const std::lock_guard lock(mutex_);
    if constexpr (std::is_void_v<decltype(work())>) {
      work();
      return {};
    } else {
      return work();
    }
  } catch (const SqliteError& error) {
    return mistake_of(error, path_);
  }

  void save(const SweepPlan& plan) {
    SqliteTransaction transaction(sqlite_);
    sqlite_.prepare("INSERT OR IGNORE INTO sweeps VALUES (?1, ?2)")
        .bind(1, plan.key)
        .bind(2, static_cast<std::int64_t>(plan.points.size()))
        .run();
    SqliteStatement insert =
        sqlite_.prepare("INSERT OR IGNORE INTO points VALUES (?1, ?2, ?3, ?4)");
    for (std::size_t i = 0; i < plan.points.size(); ++i)
      insert.bind(1, plan.key)
          .bind(2, static_cast<std::int64_t>(i + 1))
          .bind(3, plan.points[i].key)
          .bind(4, settings_json(plan.points[i].settings))
          .run();
    transaction.commit();
  }

  void save(const SweepRun& run, const BoundProblem& problem) {
    SqliteTransaction transaction(sqlite_);
    if (has(run.key)) return;  // another process was first
    sqlite_
        .prepare("INSERT INTO runs VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)")
        .bind(1, run.key)
        .bind(2, run.workload)
        .bind(3, run.arch)
        .bind(4, save_text(to_yaml(problem.workload)))
        .bind(5, save_text(to_yaml(problem.arch)))
        .bind(6, run.status)
        .bind(7, run.reason)
        .bind(8, run.mapper)
        .bind(9, run.guarantee)
        .bind(10, run.bound)
        .bind(11, run.area_m2)
        .bind(12, run.operations)
        .bind(13, run.ended_by)
        .run();
    for (std::size_t m = 0; m < run.mappings.size(); ++m)
      save(run.key, static_cast<std::int64_t>(m + 1), run.mappings[m]);
    sqlite_.prepare("INSERT INTO timings VALUES (?1, ?2, ?3)")
        .bind(1, run.key)
        .bind(2, run.timing.seconds)
        .bind(3, run.timing.mappings_evaluated)
        .run();
    transaction.commit();
  }

  std::vector<SweepPlan> sweeps() const {
    std::vector<SweepPlan> plans;
    SqliteStatement keys = sqlite_.prepare("SELECT key FROM sweeps ORDER BY key");
    while (keys.step()) plans.emplace_back().key = keys.text(0);
    for (SweepPlan& plan : plans) {
      SqliteStatement points =
          sqlite_.prepare("SELECT run, settings FROM points WHERE sweep = ?1 ORDER BY position");
      points.bind(1, plan.key);
      while (points.step()) {
        SweepPoint& point = plan.points.emplace_back();
        point.key = points.text(0);
        point.settings = settings_from(points.text(1));
      }
    }
    return plans;
  }

  bool has(const std::string& key) const {
    return sqlite_.prepare("SELECT 1 FROM runs WHERE key = ?1").bind(1, key).step();
  }

  std::optional<SweepRun> find(const std::string& key) const {
    SqliteStatement select = sqlite_.prepare(
        "SELECT workload, arch, status, reason, mapper, guarantee, bound, area_m2, operations, "
        "ended_by, seconds, mappings_evaluated FROM runs JOIN timings ON run = key WHERE key = ?1");
    if (!select.bind(1, key).step()) return std::nullopt;
    SweepRun run;
    run.key = key;
    run.workload = select.text(0);
    run.arch = select.text(1);
    run.status = select.text(2);
    run.reason = select.text(3);
    run.mapper = select.text(4);
    run.guarantee = select.text(5);
    run.bound = select.number_or_none(6);
    run.area_m2 = select.number_or_none(7);
    run.operations = select.number(8);
    run.ended_by = select.text(9);
    run.timing = {select.number(10), select.number(11)};
    run.mappings = mappings_of(key);
    return run;
  }

 private:
  std::vector<std::string> names_of_tables() const {
    std::vector<std::string> names;
    SqliteStatement select = sqlite_.prepare(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'");
    while (select.step()) names.push_back(select.text(0));
    return names;
  }

  void make_tables() {
    SqliteTransaction transaction(sqlite_);
    if (!names_of_tables().empty()) return;  // another process was first
    sqlite_.run(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}",
                            kSweepApplication, kSweepSchemaVersion));
    sqlite_.run(kSweepTables);
    transaction.commit();
  }

  std::string save_text(const std::string& text) {
    const std::string key = content_key(text);
    sqlite_.prepare("INSERT OR IGNORE INTO texts VALUES (?1, ?2)").bind(1, key).bind(2, text).run();
    return key;
  }

  void save(const std::string& run, std::int64_t number, const SweepMapping& mapping) {
    sqlite_.prepare("INSERT INTO mappings VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)")
        .bind(1, run)
        .bind(2, number)
        .bind(3, mapping.energy_j)
        .bind(4, mapping.latency_s)
        .bind(5, mapping.edp_js)
        .bind(6, mapping.leak_energy_j)
        .bind(7, mapping.operations_per_s)
        .bind(8, mapping.operations_per_j)
        .bind(9, mapping.power_w)
        .bind(10, mapping.mapping)
        .run();
    for (std::size_t c = 0; c < mapping.components.size(); ++c) {
      const SweepComponent& component = mapping.components[c];
      sqlite_.prepare("INSERT INTO components VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)")
          .bind(1, run)
          .bind(2, number)
          .bind(3, static_cast<std::int64_t>(c + 1))
          .bind(4, component.name)
          .bind(5, component.energy_j)
          .bind(6, component.of_peak)
          .bind(7, component.busy)
          .bind(8, component.peak_bits)
          .bind(9, component.capacity_bits)
          .run();
    }
  }

  std::vector<SweepMapping> mappings_of(const std::string& run) const {
    std::vector<SweepMapping> mappings;
    SqliteStatement select = sqlite_.prepare(
        "SELECT energy_j, latency_s, edp_js, leak_energy_j, operations_per_s, operations_per_j, "
        "power_w, mapping FROM mappings WHERE run = ?1 ORDER BY number");
    select.bind(1, run);
    while (select.step())
      mappings.push_back({select.number(0), select.number(1), select.number(2), select.number(3),
                          select.number_or_none(4), select.number_or_none(5),
                          select.number_or_none(6), select.text(7),
                          components_of(run, static_cast<std::int64_t>(mappings.size() + 1))});
    return mappings;
  }

  std::vector<SweepComponent> components_of(const std::string& run, std::int64_t number) const {
    std::vector<SweepComponent> components;
    SqliteStatement select = sqlite_.prepare(
        "SELECT component, energy_j, of_peak, busy, peak_bits, capacity_bits FROM components "
        "WHERE run = ?1 AND number = ?2 ORDER BY position");
    select.bind(1, run).bind(2, number);
    while (select.step())
      components.push_back({select.text(0), select.number(1), select.number_or_none(2),
                            select.number_or_none(3), select.number_or_none(4),
                            select.number_or_none(5)});
    return components;
  }

  std::string path_;
  Sqlite sqlite_;
  mutable std::mutex mutex_;
};

SweepDatabase::SweepDatabase(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
SweepDatabase::SweepDatabase(SweepDatabase&&) noexcept = default;
SweepDatabase& SweepDatabase::operator=(SweepDatabase&&) noexcept = default;
SweepDatabase::~SweepDatabase() = default;

Result<SweepDatabase> SweepDatabase::open(const std::string& path) try {
  auto impl = std::make_unique<Impl>(path);
  if (auto ready = impl->prepare(); !ready) return tl::unexpected(std::move(ready.error()));
  return SweepDatabase(std::move(impl));
} catch (const SqliteError& error) {
  return mistake_of(error, path);
}

Result<void> SweepDatabase::save(const SweepPlan& plan) {
  return impl_->guarded([&] { impl_->save(plan); });
}

Result<void> SweepDatabase::save(const SweepRun& run, const BoundProblem& problem) {
  return impl_->guarded([&] { impl_->save(run, problem); });
}

Result<std::vector<SweepPlan>> SweepDatabase::sweeps() const {
  return impl_->guarded([&] { return impl_->sweeps(); });
}

Result<bool> SweepDatabase::has(const std::string& key) const {
  return impl_->guarded([&] { return impl_->has(key); });
}

Result<std::optional<SweepRun>> SweepDatabase::find(const std::string& key) const {
  return impl_->guarded([&] { return impl_->find(key); });
}

}  // namespace sluice
