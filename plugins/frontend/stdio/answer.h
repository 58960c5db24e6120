// One answer of mode "jsonl", put together from events.
// Thread rule: one thread. Flow: an event may add a delta line, and the terminal one adds the answer's last
// line.
#pragma once
#include <mortise/engine.h>

#include <string>
#include <string_view>
#include <vector>

#include "json/json.h"
#include "request.h"

namespace mortise::stdio {

class Answer {
 public:
  explicit Answer(const Request& request)
      : id_(request.id), stream_(request.stream), has_logprobs_(request.wants_logprobs) {}

  /// Appends the lines that the event makes certain to `out`; true where it was the terminal one.
  bool add(const mortise_event& event, std::string* out);

 private:
  void collect(const mortise_event& event);
  void write_delta(const mortise_event& event, std::string* out) const;
  void write_done(const mortise_event& event, std::string* out) const;

  const std::string id_;
  const bool stream_;
  bool has_logprobs_;
  std::string text_;
  std::vector<uint32_t> tokens_;
  std::string logprobs_;  // JSON: items of the list, with commas between
};

/// {"id":…,"error":{"code","message","param"},"finish_reason":"error"} and a line's end.
void write_error(std::string_view id, std::string_view code, const Error& error, std::string* out);

}  // namespace mortise::stdio
