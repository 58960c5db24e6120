// Helpers of the parameter tests: short declarations, and values or error lines of them.
// Thread rule: pure functions. Flow: included by params_test.cc and declarations_test.cc.
#pragma once
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "config/params.h"
#include "config/toml_text.h"

namespace mortise {

constexpr uint32_t kBoth = MORTISE_PARAM_CONFIG | MORTISE_PARAM_REQUEST;

inline mortise_param declare(const char* name, uint32_t type, const char* fallback = nullptr,
                             const char* range = nullptr, uint32_t flags = kBoth) {
  return {sizeof(mortise_param), type, flags, 0, name, fallback, range, nullptr, "the help"};
}

inline Result<Params> read(const std::vector<mortise_param>& list, const std::string& owner = "p") {
  std::vector<const mortise_param*> pointers;
  for (const mortise_param& param : list) pointers.push_back(&param);
  return read_params(owner, pointers.data(), pointers.size());
}

inline Param one(const mortise_param& param) {
  Result<Params> params = read({param});
  REQUIRE(params);
  return params->list[0];
}

inline std::string declaration_error(const mortise_param& param) {
  const Result<Params> params = read({param});
  return params ? "no error" : params.error().text();
}

inline Result<Value> toml(const Param& param, const std::string& text) {
  const Result<Raw> raw = parse_toml_value(text, "f");
  REQUIRE(raw);
  return check_value(param, "t.x", *raw, "/cfg");
}

inline std::string toml_error(const Param& param, const std::string& text) {
  const Result<Value> value = toml(param, text);
  return value ? "no error" : value.error().text();
}

inline std::string json_error(const Param& param, const std::string& text) {
  const Result<Value> value = check_json(param, nlohmann::ordered_json::parse(text));
  return value ? "no error" : value.error().text();
}

}  // namespace mortise
