// SPDX-License-Identifier: Apache-2.0
// A small JSON value. Objects keep the order in which their members were set, so that output is
// stable. Reading is defensive: a missing member or another type is "nothing", never an exception.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "schedules/result.h"

namespace tilewright {

struct JsonMember;

class Json {
 public:
  Json();  // null
  Json(bool value);
  Json(int value);
  Json(std::int64_t value);
  Json(double value);
  Json(std::string value);
  Json(std::string_view value);
  Json(const char* value);
  template <class T>
  Json(const std::optional<T>& value) {
    if (value) *this = Json(*value);
  }
  Json(const Json&);
  Json(Json&&) noexcept;
  Json& operator=(const Json&);
  Json& operator=(Json&&) noexcept;
  ~Json();
  static Json array();
  static Json object();
  template <class Map>
  static Json object_of(const Map& map) {
    Json json = object();
    for (const auto& [key, value] : map) json.set(key, Json(value));
    return json;
  }

  Json& set(std::string key,
            Json value);   // precondition: an object; replaces a member of that name
  Json& push(Json value);  // precondition: an array

  const Json* find(std::string_view key) const;  // nullptr: no object, or no such member
  std::optional<bool> boolean() const;
  std::optional<std::int64_t> integer() const;  // a number without fraction
  std::optional<double> number() const;
  std::optional<std::string> text() const;
  const std::vector<Json>* items() const;          // nullptr: no array
  const std::vector<JsonMember>* members() const;  // nullptr: no object
  bool is_null() const;

  // Members of an object, with a default where they are missing or of another type.
  std::string text_of(std::string_view key, std::string_view otherwise = "") const;
  double number_of(std::string_view key, double otherwise = 0) const;
  std::int64_t integer_of(std::string_view key, std::int64_t otherwise = 0) const;
  bool boolean_of(std::string_view key, bool otherwise = false) const;

  std::string dump(int indent = 2) const;  // indent < 0: one line

 private:
  std::variant<std::monostate, bool, std::int64_t, double, std::string, std::vector<Json>,
               std::vector<JsonMember>>
      value_;
};

struct JsonMember {
  std::string key;
  Json value;
};

// The value refers to members, which hold values: what touches it comes after both are complete.
inline Json::Json() = default;
inline Json::Json(bool value) : value_(value) {}
inline Json::Json(int value) : value_(static_cast<std::int64_t>(value)) {}
inline Json::Json(std::int64_t value) : value_(value) {}
inline Json::Json(double value) : value_(value) {}
inline Json::Json(std::string value) : value_(std::move(value)) {}
inline Json::Json(std::string_view value) : value_(std::string(value)) {}
inline Json::Json(const char* value) : value_(std::string(value)) {}
inline Json::Json(const Json&) = default;
inline Json::Json(Json&&) noexcept = default;
inline Json& Json::operator=(const Json&) = default;
inline Json& Json::operator=(Json&&) noexcept = default;
inline Json::~Json() = default;
inline bool Json::is_null() const { return std::holds_alternative<std::monostate>(value_); }

// `what` names the text in the error, for example "result of the harness".
Result<Json> parse_json(std::string_view text, std::string_view what);

}  // namespace tilewright
