// Accepting connections and obeying the program: drain and stop.
// Thread rule: one thread; see server.h. Flow: see server.h.
#include "server.h"

#include <unistd.h>

#include "connection.h"

namespace mortise::http {

std::string Server::Impl::next_id() {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string out = "req_";
  const uint64_t id = ids++;
  for (int shift = 60; shift >= 0; shift -= 4) out += kDigits[id >> shift & 15];
  return out;
}

void Server::Impl::closed(Connection* connection) {
  if (is_over) return;
  connections.erase(connection);
  room.cancel();
  if (is_draining && connections.empty()) io.stop();
}

awaitable<void> Server::Impl::accept() {
  while (!is_draining) {
    if (connections.size() >= config.max_connections) {
      room.expires_at(asio::steady_timer::time_point::max());
      co_await room.async_wait(kTuple);
      continue;
    }
    auto [error, socket] = co_await acceptor.async_accept(kTuple);
    if (is_draining) co_return;
    if (error) {  // out of descriptors, most likely: others must close first
      room.expires_after(kAcceptPause);
      co_await room.async_wait(kTuple);
      continue;
    }
    boost::system::error_code ignored;
    socket.set_option(tcp::no_delay(true), ignored);
    auto connection = std::make_shared<Connection>(*this, std::move(socket));
    asio::co_spawn(
        io, [connection]() -> awaitable<void> { co_await connection->run(); }, asio::detached);
  }
}

void Server::Impl::drain() {
  is_draining = true;
  boost::system::error_code ignored;
  acceptor.close(ignored);
  for (Connection* connection : connections)
    if (connection->is_idle()) connection->close();
  if (connections.empty()) io.stop();
}

awaitable<void> Server::Impl::obey(client::Control& control) {
  asio::posix::stream_descriptor wake(io, dup(control.wake_fd()));
  while (!control.stopping()) {
    if (control.draining() && !is_draining) {
      deadline.expires_after(std::chrono::milliseconds(control.drain_left_ms()));
      deadline.async_wait([this](const boost::system::error_code& error) {
        if (!error) io.stop();
      });
      drain();
    }
    uint64_t count = 0;
    const auto [error, size] = co_await wake.async_read_some(asio::buffer(&count, sizeof(count)), kTuple);
    if (error) co_return;
  }
  io.stop();
}

Result<std::unique_ptr<Server>> Server::make(const ServerConfig& config) {
  auto impl = std::make_unique<Impl>(config);
  const tcp::endpoint endpoint(asio::ip::make_address(config.listen.ip), config.listen.port);
  try {
    impl->acceptor.open(endpoint.protocol());
    impl->acceptor.set_option(tcp::acceptor::reuse_address(true));
    impl->acceptor.bind(endpoint);
    impl->acceptor.listen(kBacklog);
  } catch (const boost::system::system_error& error) {
    return fail(Code::io, config.listen.text(),
                "cannot be listened on: " + error.code().message() + "; set another plugin.http.listen");
  }
  return std::unique_ptr<Server>(new Server(std::move(impl)));
}

Server::Server(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Server::~Server() = default;

Address Server::address() const { return {impl_->config.listen.ip, impl_->acceptor.local_endpoint().port()}; }

void Server::run(client::Control& control, Handler handler) {
  impl_->handler = std::move(handler);
  asio::co_spawn(impl_->io, impl_->accept(), asio::detached);
  asio::co_spawn(impl_->io, impl_->obey(control), asio::detached);
  impl_->io.run();
  impl_->is_over = true;
}

}  // namespace mortise::http
