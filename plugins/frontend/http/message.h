// HTTP messages as the routes see them, and the text of an answer's head.
// Thread rule: plain values and pure functions. Flow: server -> Request -> routes -> Response -> server.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mortise::http {

struct Request {
  std::string method;
  std::string target;  ///< as sent: path and perhaps a query
  std::string body;
  std::vector<std::string> hosts;    ///< values of the Host headers
  std::vector<std::string> origins;  ///< values of the Origin headers
  bool needs_host = true;            ///< HTTP/1.1; 1.0 knew no Host
};

struct Response {
  int status = 200;
  std::vector<std::pair<std::string, std::string>> headers;  ///< besides those that head_text adds
  std::string body;
  std::string type = "application/json";  ///< "" for an answer without a body
};

/// How the end of a body is known.
enum class Framing { length, chunked, until_close };

/// Status line and headers up to the blank line.
std::string head_text(const Response& response, Framing framing, std::string_view request_id,
                      bool keeps_alive);

/// One chunk of a chunked body; an empty one would end it, so nothing is made of an empty text.
std::string chunk_text(std::string_view text);
constexpr std::string_view kLastChunk = "0\r\n\r\n";

}  // namespace mortise::http
