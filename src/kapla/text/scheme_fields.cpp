#include "scheme_fields.h"

#include <cstdint>

namespace sluice::kapla {

SchemeFields::SchemeFields(const std::string& line) {
  try {
    object_ = Json::parse(line);
  } catch (const Json::parse_error& mistake) {
    throw SchemeMistake("this is no JSON: it makes no sense from here",
                        static_cast<int>(mistake.byte));
  } catch (const Json::out_of_range&) {
    throw SchemeMistake("a number is too large");
  }
  if (!object_.is_object()) throw SchemeMistake("a scheme is a JSON object: {\"run\": …}");
}

const Json& SchemeFields::at(const char* key) const {
  if (!object_.contains(key)) throw SchemeMistake(fmt::format("the scheme has no `{}`", key));
  return object_[key];
}

void SchemeFields::complain(const char* key, const std::string& message) const {
  throw SchemeMistake(fmt::format("`{}` {}", key, message));
}

std::string SchemeFields::text(const char* key) const {
  const Json& value = at(key);
  if (!value.is_string()) complain(key, "must be a text");
  return value.get<std::string>();
}

std::int64_t SchemeFields::number(const char* key) const {
  std::int64_t number = 0;
  convert(key, at(key), number);
  return number;
}

void SchemeFields::convert(const char* key, const Json& value, std::int64_t& number) const {
  double real = 0;
  convert(key, value, real);
  constexpr double kMost = 9007199254740992.0;  // 2^53: every whole number up to it is exact
  if (std::floor(real) != real || std::abs(real) > kMost)
    complain(key, fmt::format("has {}; it must be a whole number of at most 2^53", value.dump()));
  number = static_cast<std::int64_t>(real);
}

void SchemeFields::convert(const char* key, const Json& value, double& number) const {
  if (!value.is_number()) complain(key, fmt::format("has {}; it must be a number", value.dump()));
  number = value.get<double>();
}

const Json& SchemeFields::list_of(const char* key, const Json& value, std::size_t size) const {
  if (!value.is_array() || value.size() != size)
    complain(key, fmt::format("has {}; it must be a list of {}", value.dump(), size));
  return value;
}

}  // namespace sluice::kapla
