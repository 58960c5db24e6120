// A line of mode "jsonl" taken apart.
// Thread rule: pure but for the text service. Flow: line -> token ids and engine parameters.
#pragma once
#include <string>
#include <vector>

#include "client/text.h"
#include "json/json.h"

namespace mortise::stdio {

struct Request {
  std::string id = "null";  ///< JSON text, for the answer
  bool stream = false;
  bool wants_logprobs = false;
  std::vector<uint32_t> prompt;
  std::string parameters;  ///< JSON object, for the engine
};

/// Fills `request`; its id is set as soon as it is known, so that an error can be answered under it. Errors
/// name the key.
Result<void> read_request(const std::string& line, const client::Text& text, Request* request);

}  // namespace mortise::stdio
