// The body of POST /v1/chat/completions taken apart.
// Thread rule: pure. Flow: body -> text for the chat template and parameters for the engine.
#pragma once
#include <mortise/cpp/result.h>

#include <optional>
#include <string>
#include <string_view>

namespace mortise::http {

struct ChatRequest {
  std::string render;      ///< JSON object for the chat template
  std::string parameters;  ///< JSON object for the engine; it passes over what it does not know
  bool stream = false;
  bool include_usage = false;
  bool logprobs = false;
  std::optional<bool> parse_special;  ///< special tokens in messages; empty: as the pipeline has it
};

/// Errors name the parameter; Code::not_found is another model than `served`, Code::unsupported what the
/// API has and this server has not.
Result<ChatRequest> read_chat_request(std::string_view body, std::string_view served);

}  // namespace mortise::http
