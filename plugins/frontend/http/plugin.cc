// Front end "http": a server of the chat completions API for this machine.
// Thread rule: run on the front end's thread, which serves all connections; drain and stop on the main one.
// Flow: make checks the address; run listens, prints where, and serves until told to end.
#include <mortise/cpp/part.h>
#include <mortise/frontend.h>
#include <unistd.h>

#include <atomic>

#include "chat_service.h"
#include "client/frontend.h"
#include "routes.h"
#include "server.h"

namespace mortise::http {
namespace {

#define HTTP_PARAMS(MORTISE_PARAM)                                                                           \
  MORTISE_PARAM(string, listen, "\"127.0.0.1:8080\"", nullptr, config,                                       \
                "loopback address and port to listen on; port 0: any that is free")                          \
  MORTISE_PARAM(int, max_body_bytes, "1048576", "[1024,67108864]", config, "largest body of a request")      \
  MORTISE_PARAM(int, max_connections, "256", "[1,65536]", config, "connections served at once; others wait") \
  MORTISE_PARAM(duration, header_timeout, "10000", "[1,)", config, "for a request's header to arrive")       \
  MORTISE_PARAM(duration, idle_timeout, "60000", "[1,)", config, "for the next request of a connection")     \
  MORTISE_PARAM(duration, write_timeout, "30000", "[1,)", config, "for a client to take what it is sent")

MORTISE_PARAMS(HttpParams, HTTP_PARAMS);

class Http {
 public:
  static Result<std::unique_ptr<Http>> make(Host host, const HttpParams& params) {
    MORTISE_TRY(listen, parse_listen(params.listen));
    const auto ms = [](int64_t value) { return std::chrono::milliseconds(value); };
    return std::make_unique<Http>(
        host, ServerConfig{listen, static_cast<size_t>(params.max_body_bytes.value),
                           static_cast<size_t>(params.max_connections.value), ms(params.header_timeout),
                           ms(params.idle_timeout), ms(params.write_timeout)});
  }
  Http(Host host, const ServerConfig& config) : host_(host), config_(config) {}

  Result<void> run(const mortise_services& services) {
    if (services.text == nullptr)
      return fail(Code::unsupported, "http", "chats need a tokenizer; name one under [use]");
    if (!client::Text(services.text).has_template())
      host_.log(MORTISE_LOG_WARNING, "the model has no chat template, so every chat will be refused");
    std::atomic<bool> engine_ended{false};
    MORTISE_TRY(server, Server::make(config_));
    MORTISE_TRY(chat, ChatService::start(host_, services, [&] {
                  engine_ended = true;
                  control_.stop();
                }));
    const Routes routes(*chat);
    MORTISE_CHECK(client::write_all(STDOUT_FILENO, "listening on http://" + server->address().text() + "\n"));
    server->run(control_, [&routes](Request request, std::shared_ptr<Exchange> exchange) {
      routes.handle(std::move(request), std::move(exchange));
    });
    if (engine_ended) return fail(Code::cancelled, "http", "the engine has ended; see the lines above");
    return {};
  }

  uint32_t needs() const { return MORTISE_NEEDS_ENGINE; }
  client::Control& control() { return control_; }

 private:
  const Host host_;
  const ServerConfig config_;
  client::Control control_;
};

constexpr mortise_frontend kTable = client::make_frontend<Http>();

constexpr mortise_part kPart = make_part<Http, HttpParams>(
    "frontend", "http", MORTISE_FRONTEND_ID, "server of the chat completions API, for this machine", &kTable);

}  // namespace
}  // namespace mortise::http

MORTISE_PLUGIN("mortise.frontend.http", "0.1.0", "Apache-2.0",
               MORTISE_FRONTEND_ID " " MORTISE_ENGINE_ID " " MORTISE_TEXT_ID, "frontend:http", "",
               &mortise::http::kPart);
