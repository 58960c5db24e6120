// The HTTP server: connections, their limits and timeouts. Asio and Beast stay behind it.
// Thread rule: make and run on the front end's thread, which is the one thread of all connections; an
// Exchange may be answered from any. Flow: bytes -> Request -> handler -> Exchange -> bytes.
#pragma once
#include <mortise/cpp/result.h>

#include <chrono>
#include <functional>
#include <memory>

#include "address.h"
#include "client/streams.h"
#include "exchange.h"
#include "message.h"

namespace mortise::http {

struct ServerConfig {
  Address listen;
  size_t max_body_bytes = 0;
  size_t max_connections = 0;
  std::chrono::milliseconds header_timeout{};  ///< from a request's first byte to the end of its header
  std::chrono::milliseconds idle_timeout{};    ///< between the requests of a connection
  std::chrono::milliseconds write_timeout{};   ///< for a client that does not take what is sent
};

class Server {
 public:
  /// Must not block: every connection waits for it. Answers the exchange, now or later.
  using Handler = std::function<void(Request, std::shared_ptr<Exchange>)>;

  /// Binds and listens. Errors name the address.
  static Result<std::unique_ptr<Server>> make(const ServerConfig& config);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// The address with the port that the system chose where 0 was asked for.
  Address address() const;
  /// Serves until `control` says stop, or drain and every request that was read is answered. Exchanges may
  /// outlive it, but not the server.
  void run(client::Control& control, Handler handler);

  struct Impl;

 private:
  explicit Server(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace mortise::http
