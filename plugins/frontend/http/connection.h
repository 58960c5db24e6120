// Connections as coroutines over Asio and Beast, and what they share. Included by server.cc alone, since both
// libraries compile slowly.
// Thread rule: one thread; other threads reach a connection only by the wake of its Exchange. Flow: read a
// request -> handler -> write its answer, while watching whether the client leaves -> next request.
#pragma once
#include <boost/asio.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <random>
#include <set>

#include "http_limits.h"
#include "received.h"
#include "server.h"

namespace mortise::http {

namespace asio = boost::asio;
using asio::awaitable;
using asio::experimental::awaitable_operators::operator||;
using tcp = asio::ip::tcp;
constexpr auto kTuple = asio::as_tuple(asio::use_awaitable);

class Connection;

struct Server::Impl {
  explicit Impl(const ServerConfig& c)
      : config(c), ids(uint64_t{std::random_device()()} << 32 | std::random_device()()) {}

  std::string next_id();
  awaitable<void> accept();
  awaitable<void> obey(client::Control& control);
  void drain();
  void closed(Connection* connection);

  const ServerConfig config;
  Handler handler;
  uint64_t ids;
  bool is_draining = false;
  bool is_over = false;
  std::set<Connection*> connections;
  asio::io_context io{1};
  tcp::acceptor acceptor{io};
  asio::steady_timer room{io};  // cancelled when a connection closes
  asio::steady_timer deadline{io};
};

class Connection {
 public:
  Connection(Server::Impl& server, tcp::socket socket) : server_(server), stream_(std::move(socket)) {
    server_.connections.insert(this);
  }
  ~Connection() { server_.closed(this); }

  /// Requests one after the other, until one side has had enough.
  awaitable<void> run() {
    while (!server_.is_draining) {
      // Not behind the condition above with &&: GCC 12 awaits there whatever the left side says.
      const bool has_more = co_await wait_for_request();
      if (!has_more) break;
      Received got = co_await read();
      if (!got.request && !got.error) co_return;
      const Sent sent = co_await answer(std::move(got));
      if (sent == Sent::gone) co_return;
      if (sent == Sent::last) break;
    }
    co_await linger();
  }

  /// Nothing of a request has arrived: it may be closed without loss.
  bool is_idle() const { return is_idle_; }
  void close() { stream_.close(); }

 private:
  enum class Sent { kept_alive, last, gone };

  awaitable<bool> wait_for_request() {
    if (buffer_.size() != 0) co_return true;
    is_idle_ = true;
    stream_.expires_after(server_.config.idle_timeout);
    const auto [error, size] = co_await stream_.async_read_some(buffer_.prepare(4096), kTuple);
    buffer_.commit(size);
    is_idle_ = false;
    co_return !error;
  }

  awaitable<Received> read() {
    Parser parser;
    parser.header_limit(kHeaderBytesMax);
    parser.body_limit(server_.config.max_body_bytes);
    stream_.expires_after(server_.config.header_timeout);
    auto [header_error, header_size] =
        co_await beast::http::async_read_header(stream_, buffer_, parser, kTuple);
    if (header_error) co_return Received{{}, refusal(header_error)};
    stream_.expires_after(kBodyTimeout);
    if (beast::iequals(parser.get()[beast::http::field::expect], "100-continue")) {
      constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
      co_await asio::async_write(stream_, asio::buffer(kContinue), kTuple);
    }
    auto [error, size] = co_await beast::http::async_read(stream_, buffer_, parser, kTuple);
    if (error) co_return Received{{}, refusal(error)};
    co_return received(parser);
  }

  awaitable<Sent> answer(Received got) {
    auto news = std::make_shared<asio::steady_timer>(server_.io);
    auto exchange = std::make_shared<Exchange>(
        server_.next_id(), [&io = server_.io, news] { asio::post(io, [news] { news->cancel(); }); });
    if (got.error)
      exchange->send(got.error->response());
    else
      server_.handler(std::move(*got.request), exchange);
    stream_.expires_never();
    const auto done = co_await (send(*exchange, *news, got) || watch());
    if (done.index() == 0 && std::get<0>(done) != Sent::gone) co_return std::get<0>(done);
    exchange->leave();
    co_return Sent::gone;
  }

  awaitable<Sent> send(Exchange& exchange, asio::steady_timer& news, const Received& got) {
    Framing framing = Framing::length;
    bool keeps_alive = got.keeps_alive;
    while (true) {
      const Exchange::Part part = exchange.take();
      if (part.empty()) {
        news.expires_at(asio::steady_timer::time_point::max());
        co_await news.async_wait(kTuple);
        continue;
      }
      std::string out;
      if (part.head) {
        if (part.is_stream) framing = got.knows_chunks ? Framing::chunked : Framing::until_close;
        keeps_alive = keeps_alive && !server_.is_draining && framing != Framing::until_close;
        out = head_text(*part.head, framing, exchange.id(), keeps_alive);
        if (got.wants_body) out += part.head->body;
      }
      out += framing == Framing::chunked ? chunk_text(part.text) : part.text;
      if (framing == Framing::chunked && part.is_over && !part.is_broken) out += kLastChunk;
      stream_.expires_after(server_.config.write_timeout);
      const auto [error, size] = co_await asio::async_write(stream_, asio::buffer(out), kTuple);
      stream_.expires_never();
      if (error) co_return Sent::gone;
      if (part.is_over) co_return keeps_alive && !part.is_broken ? Sent::kept_alive : Sent::last;
    }
  }

  /// Returns when the client has left. What it sends meanwhile is kept for the next request.
  awaitable<void> watch() {
    while (buffer_.size() < kPipelinedBytesMax) {
      const auto [error, size] = co_await stream_.socket().async_read_some(buffer_.prepare(4096), kTuple);
      buffer_.commit(size);
      if (error) co_return;
    }
    asio::steady_timer never(server_.io, asio::steady_timer::time_point::max());
    co_await never.async_wait(kTuple);
  }

  /// Reads what still comes, so that a reset does not overtake the answer.
  awaitable<void> linger() {
    boost::system::error_code ignored;
    stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
    stream_.expires_after(kLingerTimeout);
    while (true) {
      buffer_.clear();
      const auto [error, size] = co_await stream_.async_read_some(buffer_.prepare(64 * 1024), kTuple);
      if (error) co_return;
    }
  }

  Server::Impl& server_;
  beast::tcp_stream stream_;
  beast::flat_buffer buffer_;
  bool is_idle_ = true;
};

}  // namespace mortise::http
