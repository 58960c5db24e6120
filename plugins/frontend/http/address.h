// Which address may be listened on, and which clients may have meant it.
// Thread rule: pure. Flow: at the start for `listen`; per request for the headers Host and Origin.
#pragma once
#include <mortise/cpp/result.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace mortise::http {

struct Address {
  std::string ip;  ///< "127.0.0.1" or "::1"
  uint16_t port = 0;

  /// "127.0.0.1:8080", "[::1]:8080"
  std::string text() const;
};

/// Reads "IP:PORT", "[IPV6]:PORT" or "localhost:PORT". Only this machine's own addresses are taken, since
/// clients are not asked for a key.
Result<Address> parse_listen(std::string_view text);

/// True for the value of a Host header that names this machine: localhost, 127.x.x.x or [::1], with or
/// without a port. A page that had its own name point here (DNS rebinding) sends that name.
bool is_own_host(std::string_view host);

/// True for the value of an Origin header of a page that came from this machine.
bool is_own_origin(std::string_view origin);

}  // namespace mortise::http
