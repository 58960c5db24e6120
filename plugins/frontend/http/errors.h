// Errors as clients of the chat completions API expect them.
// Thread rule: pure. Flow: every refusal, of server, routes, engine or template, becomes a Response here.
#pragma once
#include <mortise/cpp/result.h>

#include <string>
#include <string_view>

#include "message.h"

namespace mortise::http {

/// One error: the status for its kind, and the fields of {"error":{…}}; an empty one is null.
struct ApiError {
  int status = 500;
  std::string type, code, message, param;
  std::string more;  ///< further members, as JSON text that begins with a comma

  /// {"error":{"message","type","param","code"}}
  std::string body() const;
  Response response() const;
};

/// A request that is wrong: 4xx, type invalid_request_error.
ApiError refuse(int status, std::string_view code, std::string message, std::string_view param = "");

/// What an error of the services means to a client. An engine's `id` for it ("context_length_exceeded")
/// becomes the code.
ApiError to_api(const Error& error, std::string_view id = "");

/// The messages make no prompt: the template refuses them, or there is none. To a client both are about
/// `messages`.
ApiError unrenderable(const Error& error);

/// The prompt does not fit: has both counts, as clients look for them.
ApiError too_long(const Error& error, size_t prompt_tokens, uint32_t context);

}  // namespace mortise::http
