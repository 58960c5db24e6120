// The text of heads and chunks.
// Thread rule: pure. Flow: see message.h.
#include "message.h"

#include <charconv>

namespace mortise::http {
namespace {

std::string_view reason(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 204:
      return "No Content";
    case 400:
      return "Bad Request";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 413:
      return "Content Too Large";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 503:
      return "Service Unavailable";
    default:
      return "Internal Server Error";
  }
}

}  // namespace

std::string head_text(const Response& response, Framing framing, std::string_view request_id,
                      bool keeps_alive) {
  std::string out = "HTTP/1.1 " + std::to_string(response.status) + " ";
  out += reason(response.status);
  const auto add = [&out](std::string_view name, std::string_view value) {
    out.append("\r\n").append(name).append(": ").append(value);
  };
  if (!response.type.empty()) add("content-type", response.type);
  if (framing == Framing::chunked) add("transfer-encoding", "chunked");
  if (framing == Framing::length && response.status != 204)
    add("content-length", std::to_string(response.body.size()));
  add("x-request-id", request_id);
  for (const auto& [name, value] : response.headers) add(name, value);
  add("connection", keeps_alive ? "keep-alive" : "close");
  return out += "\r\n\r\n";
}

std::string chunk_text(std::string_view text) {
  if (text.empty()) return {};
  char digits[16];
  const auto end = std::to_chars(digits, digits + sizeof(digits), text.size(), 16).ptr;
  std::string out(digits, end);
  return out.append("\r\n").append(text).append("\r\n");
}

}  // namespace mortise::http
