#pragma once

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

namespace sluice::kapla {

/// Keys keep their order.
using Json = nlohmann::ordered_json;

/// What is wrong with a line, and where, if that is known (0: the whole line).
class SchemeMistake : public std::runtime_error {
 public:
  explicit SchemeMistake(const std::string& message, int column = 0)
      : std::runtime_error(message), column_(column) {}
  int column() const { return column_; }

 private:
  int column_;
};

/// The keys of a line of a schemes file. All throw SchemeMistake where a key is missing or has
/// another kind of value.
class SchemeFields {
 public:
  explicit SchemeFields(const std::string& line);

  bool has(const char* key) const { return object_.contains(key) && !object_[key].is_null(); }
  const Json& at(const char* key) const;
  [[noreturn]] void complain(const char* key, const std::string& message) const;

  std::string text(const char* key) const;
  std::int64_t number(const char* key) const;

  template <std::size_t N>
  std::array<std::int64_t, N> numbers(const char* key) const {
    return row<std::int64_t, N>(key, at(key));
  }

  template <std::size_t N>
  std::array<bool, N> switches(const char* key) const {
    const Json& list = list_of(key, at(key), N);
    std::array<bool, N> values{};
    for (std::size_t i = 0; i < N; ++i) {
      if (!list[i].is_boolean()) complain(key, "must be a list of true and false");
      values[i] = list[i].template get<bool>();
    }
    return values;
  }

  template <class T, std::size_t Rows, std::size_t N>
  std::array<std::array<T, N>, Rows> rows(const char* key) const {
    const Json& list = list_of(key, at(key), Rows);
    std::array<std::array<T, N>, Rows> values{};
    for (std::size_t i = 0; i < Rows; ++i) values[i] = row<T, N>(key, list[i]);
    return values;
  }

  /// A value as a number of that kind: whole numbers may be written 8.0.
  void convert(const char* key, const Json& value, std::int64_t& number) const;
  void convert(const char* key, const Json& value, double& number) const;

 private:
  const Json& list_of(const char* key, const Json& value, std::size_t size) const;

  template <class T, std::size_t N>
  std::array<T, N> row(const char* key, const Json& value) const {
    const Json& list = list_of(key, value, N);
    std::array<T, N> numbers{};
    for (std::size_t i = 0; i < N; ++i) convert(key, list[i], numbers[i]);
    return numbers;
  }

  Json object_;
};

}  // namespace sluice::kapla
