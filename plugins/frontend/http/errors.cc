// The table of errors.
// Thread rule: pure. Flow: see errors.h.
#include "errors.h"

#include "http_limits.h"
#include "json/json.h"

namespace mortise::http {

std::string ApiError::body() const {
  std::string out;
  json::Writer writer(&out);
  writer.open('{').key("error").open('{').key("message").string(message).key("type").string(type);
  for (const auto& [name, value] : {std::pair{"param", &param}, std::pair{"code", &code}}) {
    writer.key(name);
    value->empty() ? writer.null() : writer.string(*value);
  }
  out += more;
  writer.close('}').close('}');
  return out;
}

Response ApiError::response() const {
  Response out{status, {}, body()};
  if (status == 429 || status == 503)
    out.headers.emplace_back("retry-after", std::to_string(kRetryAfterSeconds));
  return out;
}

ApiError refuse(int status, std::string_view code, std::string message, std::string_view param) {
  return {status, "invalid_request_error", std::string(code), std::move(message), std::string(param), ""};
}

ApiError to_api(const Error& error, std::string_view id) {
  const std::string message = error.where.empty() ? error.message : error.where + ": " + error.message;
  const auto as = [&](std::string_view code) {
    return refuse(400, id.empty() ? code : id, message, error.where);
  };
  switch (error.code) {
    case Code::bad_argument:
      return as("invalid_value");
    case Code::bad_data:
      return as("invalid_json");
    case Code::unsupported:
      return as("unsupported_value");
    case Code::limit:
      return as("limit_exceeded");
    case Code::not_found:
      return refuse(404, "model_not_found", error.message, error.where);
    case Code::overloaded:
      return {429, "rate_limit_error", "overloaded", message, "", ""};
    case Code::cancelled:
      return {503, "server_error", "unavailable", message, "", ""};
    default:
      return {500, "server_error", id.empty() ? "internal" : std::string(id), message, "", ""};
  }
}

ApiError unrenderable(const Error& error) {
  if (error.code == Code::no_memory || error.code == Code::io || error.code == Code::internal)
    return to_api(error);
  const bool names_spot = error.where.rfind("messages", 0) == 0;
  return refuse(400, "invalid_value", error.text(), names_spot ? error.where : "messages");
}

ApiError too_long(const Error& error, size_t prompt_tokens, uint32_t context) {
  ApiError out = refuse(400, "context_length_exceeded", error.message, "messages");
  out.more =
      ",\"n_prompt_tokens\":" + std::to_string(prompt_tokens) + ",\"n_ctx\":" + std::to_string(context);
  return out;
}

}  // namespace mortise::http
