#include "sqlite.h"

#include <cmath>

namespace sluice {
namespace {

[[noreturn]] void fail(sqlite3* database) {
  throw SqliteError(sqlite3_extended_errcode(database), sqlite3_errmsg(database));
}

/// How long another process that writes is waited for.
constexpr int kPatienceMilliseconds = 60'000;

}  // namespace

SqliteStatement::SqliteStatement(sqlite3* database, const std::string& sql)
    : database_(database), statement_(nullptr, sqlite3_finalize) {
  sqlite3_stmt* statement = nullptr;
  require(sqlite3_prepare_v2(database, sql.c_str(), -1, &statement, nullptr));
  statement_.reset(statement);
}

void SqliteStatement::require(int code) const {
  if (code != SQLITE_OK) fail(database_);
}

SqliteStatement& SqliteStatement::bind(int parameter, const std::string& text) {
  require(sqlite3_bind_text(statement_.get(), parameter, text.data(), static_cast<int>(text.size()),
                            SQLITE_TRANSIENT));
  return *this;
}

SqliteStatement& SqliteStatement::bind(int parameter, double number) {
  require(std::isnan(number) ? sqlite3_bind_null(statement_.get(), parameter)
                             : sqlite3_bind_double(statement_.get(), parameter, number));
  return *this;
}

SqliteStatement& SqliteStatement::bind(int parameter, std::int64_t number) {
  require(sqlite3_bind_int64(statement_.get(), parameter, number));
  return *this;
}

SqliteStatement& SqliteStatement::bind(int parameter, const std::optional<double>& number) {
  if (number) return bind(parameter, *number);
  require(sqlite3_bind_null(statement_.get(), parameter));
  return *this;
}

bool SqliteStatement::step() {
  const int code = sqlite3_step(statement_.get());
  if (code != SQLITE_ROW && code != SQLITE_DONE) fail(database_);
  return code == SQLITE_ROW;
}

void SqliteStatement::run() {
  step();
  require(sqlite3_reset(statement_.get()));
}

std::string SqliteStatement::text(int column) const {
  const auto* bytes = sqlite3_column_text(statement_.get(), column);
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column));
  return bytes == nullptr ? "" : std::string(reinterpret_cast<const char*>(bytes), size);
}

double SqliteStatement::number(int column) const {
  return sqlite3_column_double(statement_.get(), column);
}

std::int64_t SqliteStatement::whole_number(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

std::optional<double> SqliteStatement::number_or_none(int column) const {
  if (sqlite3_column_type(statement_.get(), column) == SQLITE_NULL) return std::nullopt;
  return number(column);
}

Sqlite::Sqlite(const std::string& path) : database_(nullptr, sqlite3_close) {
  sqlite3* database = nullptr;
  const int code =
      sqlite3_open_v2(path.c_str(), &database,
                      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_FULLMUTEX, nullptr);
  database_.reset(database);
  if (code != SQLITE_OK) fail(database);
  sqlite3_extended_result_codes(database, 1);
  sqlite3_busy_timeout(database, kPatienceMilliseconds);
}

void Sqlite::run(const std::string& sql) const {
  if (sqlite3_exec(database_.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
    fail(database_.get());
}

std::int64_t Sqlite::pragma(const std::string& name) const {
  SqliteStatement statement = prepare("PRAGMA " + name);
  return statement.step() ? statement.whole_number(0) : 0;
}

SqliteTransaction::SqliteTransaction(const Sqlite& database) : database_(database) {
  database_.run("BEGIN IMMEDIATE");
}

SqliteTransaction::~SqliteTransaction() {
  if (!is_open_) return;
  try {
    database_.run("ROLLBACK");
  } catch (const SqliteError&) {  // SQLite has rolled it back itself
  }
}

void SqliteTransaction::commit() {
  database_.run("COMMIT");
  is_open_ = false;
}

}  // namespace sluice
