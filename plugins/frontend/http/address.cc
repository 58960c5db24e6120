// Reading addresses.
// Thread rule: pure. Flow: see address.h.
#include "address.h"

#include <arpa/inet.h>

#include <charconv>
#include <cstring>

namespace mortise::http {
namespace {

struct Split {
  std::string_view host, port;
  bool has_port = false;
};

/// "HOST", "HOST:PORT" or the same with [HOST]; the brackets are kept.
Split split(std::string_view text) {
  const size_t bracket = text.rfind(']');
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || (bracket != std::string_view::npos && colon < bracket))
    return {text, {}, false};
  return {text.substr(0, colon), text.substr(colon + 1), true};
}

bool read_port(std::string_view text, uint16_t* port) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *port);
  return error == std::errc() && end == text.data() + text.size();
}

bool is_localhost(std::string_view name) {
  constexpr std::string_view kName = "localhost";
  return name.size() == kName.size() && strncasecmp(name.data(), kName.data(), kName.size()) == 0;
}

bool is_ipv4_loopback(std::string_view ip) {
  in_addr address{};
  return inet_pton(AF_INET, std::string(ip).c_str(), &address) == 1 && ntohl(address.s_addr) >> 24 == 127;
}

bool is_ipv6_loopback(std::string_view bracketed) {
  if (bracketed.size() < 4 || bracketed.front() != '[' || bracketed.back() != ']') return false;
  in6_addr address{};
  const std::string ip(bracketed.substr(1, bracketed.size() - 2));
  return inet_pton(AF_INET6, ip.c_str(), &address) == 1 && IN6_IS_ADDR_LOOPBACK(&address);
}

}  // namespace

std::string Address::text() const {
  const bool is_ipv6 = ip.find(':') != std::string::npos;
  return (is_ipv6 ? "[" + ip + "]" : ip) + ":" + std::to_string(port);
}

Result<Address> parse_listen(std::string_view text) {
  Address address;
  const Split parts = split(text);
  const std::string quoted = "'" + std::string(text) + "'";
  if (!parts.has_port || !read_port(parts.port, &address.port))
    return fail(Code::bad_argument, "plugin.http.listen",
                quoted + " is no address with a port; write 127.0.0.1:8080, or port 0 for any that is free");
  if (is_localhost(parts.host))
    address.ip = "127.0.0.1";
  else if (is_ipv4_loopback(parts.host))
    address.ip = parts.host;
  else if (is_ipv6_loopback(parts.host))
    address.ip = "::1";
  else
    return fail(Code::bad_argument, "plugin.http.listen",
                quoted +
                    " is not this machine's own (loopback) address; clients are not asked for a key, so only "
                    "127.0.0.1, [::1] and localhost may be listened on");
  return address;
}

bool is_own_host(std::string_view host) {
  const Split parts = split(host);
  uint16_t port = 0;
  if (parts.has_port && !read_port(parts.port, &port)) return false;
  return is_localhost(parts.host) || is_ipv4_loopback(parts.host) || is_ipv6_loopback(parts.host);
}

bool is_own_origin(std::string_view origin) {
  const size_t scheme = origin.find("://");
  return scheme != std::string_view::npos && is_own_host(origin.substr(scheme + 3));
}

}  // namespace mortise::http
