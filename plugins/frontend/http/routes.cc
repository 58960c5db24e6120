// The routes.
// Thread rule: see routes.h. Flow: see routes.h.
#include "routes.h"

#include <algorithm>
#include <optional>

#include "address.h"
#include "errors.h"
#include "json/json.h"

namespace mortise::http {
namespace {

constexpr std::string_view kChatPath = "/v1/chat/completions";
constexpr std::string_view kModelsPath = "/v1/models";
constexpr std::string_view kModelPrefix = "/v1/models/";
constexpr std::string_view kHealthPath = "/health";

/// The methods of a path; "" where there is no such path.
std::string_view methods_of(std::string_view path) {
  if (path == kChatPath) return "POST, OPTIONS";
  if (path == kHealthPath || path == kModelsPath || path.substr(0, kModelPrefix.size()) == kModelPrefix)
    return "GET, HEAD, OPTIONS";
  return "";
}

bool is_among(std::string_view method, std::string_view methods) {
  while (!methods.empty()) {
    const size_t end = std::min(methods.find(", "), methods.size());
    if (methods.substr(0, end) == method) return true;
    methods.remove_prefix(std::min(end + 2, methods.size()));
  }
  return false;
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/// Undoes %XX; what is no such sequence stays as it is.
std::string percent_decoded(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool whole = text[i] == '%' && i + 2 < text.size();
    if (whole && hex_digit(text[i + 1]) >= 0 && hex_digit(text[i + 2]) >= 0) {
      out += static_cast<char>(hex_digit(text[i + 1]) << 4 | hex_digit(text[i + 2]));
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

/// A browser's page may send requests here without being able to hide where it came from.
std::optional<ApiError> foreign(const Request& request) {
  const auto& hosts = request.hosts;
  if (hosts.size() > 1 || (hosts.empty() && request.needs_host))
    return refuse(400, "bad_host",
                  "a request has one Host header; this one has " + std::to_string(hosts.size()));
  if (!std::all_of(hosts.begin(), hosts.end(), is_own_host))
    return refuse(403, "foreign_host",
                  "Host '" + hosts[0] + "' is not this machine; use 127.0.0.1 or localhost");
  if (!std::all_of(request.origins.begin(), request.origins.end(), is_own_origin))
    return refuse(403, "foreign_origin", "pages from elsewhere may not use this server");
  return std::nullopt;
}

}  // namespace

void Routes::handle(Request request, std::shared_ptr<Exchange> exchange) const {
  if (const auto refused = foreign(request)) return exchange->send(refused->response());
  const std::string path = request.target.substr(0, request.target.find('?'));
  const std::string allow(methods_of(path));
  if (allow.empty())
    return exchange->send(refuse(404, "unknown_url", "there is no " + path + " here").response());
  if (!is_among(request.method, allow)) {
    Response out =
        refuse(405, "method_not_allowed", request.method + " is not for " + path + "; use " + allow)
            .response();
    out.headers.emplace_back("allow", allow);
    return exchange->send(std::move(out));
  }
  if (request.method == "OPTIONS") return exchange->send({204, {{"allow", allow}}, "", ""});
  if (path == kChatPath) return chat_.post(std::move(request.body), std::move(exchange));
  if (path == kHealthPath) return exchange->send(health());
  if (path == kModelsPath) return exchange->send(models());
  exchange->send(model(std::string_view(path).substr(kModelPrefix.size())));
}

/// A pipeline that has failed a step still answers: whoever watches decides what to do about it.
Response Routes::health() const {
  const uint64_t failed = chat_.steps_failed();
  if (failed == 0) return {200, {}, "{\"status\":\"ok\"}"};
  std::string out;
  json::Writer writer(&out);
  writer.open('{').key("status").string("degraded").key("steps_failed").number(failed).close('}');
  return {200, {}, std::move(out)};
}

std::string Routes::model_object() const {
  std::string out;
  json::Writer writer(&out);
  writer.open('{').key("id").string(chat_.model()).key("object").string("model");
  writer.key("created").number(started_).key("owned_by").string("mortise").close('}');
  return out;
}

Response Routes::models() const {
  return {200, {}, "{\"object\":\"list\",\"data\":[" + model_object() + "]}"};
}

Response Routes::model(std::string_view encoded_id) const {
  const std::string id = percent_decoded(encoded_id);
  if (id == chat_.model()) return {200, {}, model_object()};
  return refuse(404, "model_not_found",
                "The model '" + id + "' does not exist here; this server has '" + chat_.model() + "'",
                "model")
      .response();
}

}  // namespace mortise::http
