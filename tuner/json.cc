// SPDX-License-Identifier: Apache-2.0
#include "tuner/json.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace tilewright {
namespace {

nlohmann::ordered_json to_library(const Json& json) {
  if (const auto* items = json.items()) {
    auto array = nlohmann::ordered_json::array();
    for (const Json& item : *items) array.push_back(to_library(item));
    return array;
  }
  if (const auto* members = json.members()) {
    auto object = nlohmann::ordered_json::object();
    for (const JsonMember& member : *members) object[member.key] = to_library(member.value);
    return object;
  }
  if (const auto value = json.boolean()) return *value;
  if (const auto value = json.integer()) return *value;
  if (const auto value = json.number()) return *value;
  if (const auto value = json.text()) return *value;
  return nullptr;
}

Json from_library(const nlohmann::ordered_json& json) {
  if (json.is_boolean()) return json.get<bool>();
  if (json.is_number_integer()) return json.get<std::int64_t>();
  if (json.is_number()) return json.get<double>();
  if (json.is_string()) return json.get<std::string>();
  if (json.is_array()) {
    Json array = Json::array();
    for (const auto& item : json) array.push(from_library(item));
    return array;
  }
  if (json.is_object()) {
    Json object = Json::object();
    for (const auto& [key, value] : json.items()) object.set(key, from_library(value));
    return object;
  }
  return {};
}

}  // namespace

Json Json::array() {
  Json json;
  json.value_ = std::vector<Json>();
  return json;
}

Json Json::object() {
  Json json;
  json.value_ = std::vector<JsonMember>();
  return json;
}

Json& Json::set(std::string key, Json value) {
  auto& members = std::get<std::vector<JsonMember>>(value_);
  for (JsonMember& member : members) {
    if (member.key == key) {
      member.value = std::move(value);
      return *this;
    }
  }
  members.push_back(JsonMember{std::move(key), std::move(value)});
  return *this;
}

Json& Json::push(Json value) {
  std::get<std::vector<Json>>(value_).push_back(std::move(value));
  return *this;
}

const Json* Json::find(std::string_view key) const {
  const auto* list = members();
  if (!list) return nullptr;
  for (const JsonMember& member : *list) {
    if (member.key == key) return &member.value;
  }
  return nullptr;
}

std::optional<bool> Json::boolean() const {
  if (const auto* value = std::get_if<bool>(&value_)) return *value;
  return std::nullopt;
}

std::optional<std::int64_t> Json::integer() const {
  if (const auto* value = std::get_if<std::int64_t>(&value_)) return *value;
  return std::nullopt;
}

std::optional<double> Json::number() const {
  if (const auto* value = std::get_if<double>(&value_)) return *value;
  if (const auto* value = std::get_if<std::int64_t>(&value_)) return static_cast<double>(*value);
  return std::nullopt;
}

std::optional<std::string> Json::text() const {
  if (const auto* value = std::get_if<std::string>(&value_)) return *value;
  return std::nullopt;
}

const std::vector<Json>* Json::items() const { return std::get_if<std::vector<Json>>(&value_); }

const std::vector<JsonMember>* Json::members() const {
  return std::get_if<std::vector<JsonMember>>(&value_);
}

std::string Json::text_of(std::string_view key, std::string_view otherwise) const {
  const Json* member = find(key);
  return member ? member->text().value_or(std::string(otherwise)) : std::string(otherwise);
}

double Json::number_of(std::string_view key, double otherwise) const {
  const Json* member = find(key);
  return member ? member->number().value_or(otherwise) : otherwise;
}

std::int64_t Json::integer_of(std::string_view key, std::int64_t otherwise) const {
  const Json* member = find(key);
  return member ? member->integer().value_or(otherwise) : otherwise;
}

bool Json::boolean_of(std::string_view key, bool otherwise) const {
  const Json* member = find(key);
  return member ? member->boolean().value_or(otherwise) : otherwise;
}

std::string Json::dump(int indent) const {
  // Text from child processes may hold any bytes: what is no UTF-8 is replaced, never an exception.
  return to_library(*this).dump(indent, ' ', false,
                                nlohmann::ordered_json::error_handler_t::replace);
}

Result<Json> parse_json(std::string_view text, std::string_view what) {
  try {
    return from_library(nlohmann::ordered_json::parse(text));
  } catch (const nlohmann::json::exception& error) {
    std::string reason = error.what();  // "[name of the exception] what is wrong"
    reason.erase(0, reason.find("] ") == std::string::npos ? 0 : reason.find("] ") + 2);
    for (char& c : reason) {
      if (c == '\n' || c == '\r') c = ' ';
    }
    return failure(fmt::format("{} is no JSON: {}", what, reason));
  }
}

}  // namespace tilewright
