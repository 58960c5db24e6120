// Request parameters that a person sets during a chat.
// Thread rule: one thread. Flow: /set changes them, each question takes them along.
#pragma once
#include <mortise/engine.h>

#include <string>
#include <string_view>

#include "json/json.h"

namespace mortise::stdio {

class Settings {
 public:
  explicit Settings(const mortise_engine* engine) : engine_(engine) {}

  /// `value`: JSON, or else a string; empty: back to the pipeline's own. An unknown name is an error; whether
  /// the value is right the engine says with the next question.
  Result<void> set(const std::string& name, std::string_view value);
  /// What a question takes along: a JSON object, or "".
  std::string parameters() const { return values_.empty() ? "" : json::dump(values_); }
  /// A line per parameter: name, range, what it is, and what was set.
  std::string table() const;

 private:
  const mortise_engine* engine_;
  json::Value values_ = json::Value::object();
};

}  // namespace mortise::stdio
