// What Beast parsed, as the routes see it; included by connection.h alone, since Beast compiles slowly.
// Thread rule: pure. Flow: parser -> Request, or the refusal of what is none.
#pragma once
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <optional>

#include "errors.h"
#include "http_limits.h"
#include "message.h"

namespace mortise::http {

namespace beast = boost::beast;
using Parser = beast::http::request_parser<beast::http::string_body>;

/// A request, the refusal of what is none, or neither where the client has left.
struct Received {
  std::optional<Request> request;
  std::optional<ApiError> error;
  bool keeps_alive = false;
  bool knows_chunks = true;
  bool wants_body = true;  // HEAD does not
};

inline std::optional<ApiError> refusal(const boost::system::error_code& error) {
  namespace http = beast::http;
  if (error == http::error::header_limit)
    return refuse(431, "headers_too_large",
                  "the header has more than " + std::to_string(kHeaderBytesMax) + " bytes; send less");
  if (error == http::error::body_limit)
    return refuse(413, "body_too_large", "the body is larger than this server takes; send less");
  const auto& category = http::make_error_code(http::error::bad_method).category();
  if (error.category() != category || error == http::error::end_of_stream ||
      error == http::error::partial_message)
    return std::nullopt;
  return refuse(400, "bad_http", "not an HTTP request: " + error.message());
}

inline Received received(Parser& parser) {
  auto& message = parser.get();
  Received out;
  out.keeps_alive = message.keep_alive();
  out.knows_chunks = message.version() >= 11;
  out.wants_body = message.method() != beast::http::verb::head;
  Request request;
  request.method = std::string(message.method_string());
  request.target = std::string(message.target());
  request.needs_host = out.knows_chunks;
  const auto values = [&message](beast::http::field name, std::vector<std::string>* to) {
    const auto [begin, end] = message.equal_range(name);
    for (auto at = begin; at != end; ++at) to->emplace_back(at->value());
  };
  values(beast::http::field::host, &request.hosts);
  values(beast::http::field::origin, &request.origins);
  request.body = std::move(message.body());
  out.request = std::move(request);
  return out;
}

}  // namespace mortise::http
