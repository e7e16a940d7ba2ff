#pragma once

#include <sqlite3.h>

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

namespace sluice {

/// What SQLite says went wrong, with its extended code.
class SqliteError : public std::runtime_error {
 public:
  SqliteError(int code, const std::string& message) : std::runtime_error(message), code_(code) {}
  int primary_code() const { return code_ & 0xff; }

 private:
  int code_;
};

/// A statement of SQL with its parameters (`?1`, `?2`, …).
class SqliteStatement {
 public:
  SqliteStatement(sqlite3* database, const std::string& sql);

  SqliteStatement& bind(int parameter, const std::string& text);
  SqliteStatement& bind(int parameter, double number);  ///< not a number: NULL
  SqliteStatement& bind(int parameter, std::int64_t number);
  SqliteStatement& bind(int parameter, const std::optional<double>& number);
  /// Whether there is a row (another one).
  bool step();
  /// Runs a statement without rows, and makes it ready for other parameters.
  void run();

  std::string text(int column) const;
  double number(int column) const;
  std::int64_t whole_number(int column) const;
  std::optional<double> number_or_none(int column) const;

 private:
  void require(int code) const;

  sqlite3* database_;
  std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> statement_;
};

/// An open SQLite file. Everything throws SqliteError.
class Sqlite {
 public:
  explicit Sqlite(const std::string& path);

  SqliteStatement prepare(const std::string& sql) const { return {database_.get(), sql}; }
  /// Runs statements without rows.
  void run(const std::string& sql) const;
  std::int64_t pragma(const std::string& name) const;

 private:
  std::unique_ptr<sqlite3, int (*)(sqlite3*)> database_;
};

/// Everything between its construction and `commit` happens as a whole, or not at all.
class SqliteTransaction {
 public:
  explicit SqliteTransaction(const Sqlite& database);
  ~SqliteTransaction();
  SqliteTransaction(const SqliteTransaction&) = delete;
  SqliteTransaction& operator=(const SqliteTransaction&) = delete;
  void commit();

 private:
  const Sqlite& database_;
  bool is_open_ = true;
};

}  // namespace sluice
