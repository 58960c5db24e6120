// What the front end http makes of events, errors and addresses, without a network.
// Thread rule: one thread. Flow: events -> Answer -> Exchange -> what a connection would take.
#include "answer.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "address.h"
#include "http_limits.h"
#include "json/json.h"
#include "plugins/frontend/fake_text.h"

using namespace mortise;
using namespace mortise::http;

namespace {

/// The fake text service, with a reader that passes text on.
mortise_text with_reader(const fake::Text& text) {
  mortise_text out = *text.get();
  out.reader_new = [](void*, mortise_str, void** reader, mortise_error*) -> mortise_status {
    *reader = nullptr;
    return MORTISE_OK;
  };
  out.reader_feed = [](void*, void*, mortise_str piece, const uint32_t*, size_t, mortise_chat_read* read,
                       void* arg) {
    if (piece.size != 0) read(arg, MORTISE_CHAT_CONTENT, piece);
  };
  out.reader_finish = [](void*, void*, mortise_chat_read*, void*) {};
  out.reader_free = [](void*, void*) {};
  return out;
}

struct Fixture {
  explicit Fixture(bool stream, bool logprobs = false) {
    ChatRequest request;
    request.render = "{}";
    request.stream = stream;
    request.logprobs = logprobs;
    auto made = Answer::make(request, "m", &service, exchange);
    REQUIRE(made);
    answer = std::move(*made);
  }
  bool add(uint32_t type, std::string_view content, std::vector<uint32_t> tokens = {},
           const mortise_logprob* logprobs = nullptr) {
    mortise_event event{};
    event.size = sizeof(event);
    event.type = type;
    event.text = str(content);
    event.tokens = tokens.data();
    event.token_count = tokens.size();
    event.logprobs = logprobs;
    event.finish = MORTISE_FINISH_STOP;
    event.error_code = MORTISE_INTERNAL;
    event.error_message = str("the kernel failed");
    return answer->add(event);
  }

  fake::Text text;
  mortise_text service = with_reader(text);
  int wakes = 0;
  std::shared_ptr<Exchange> exchange = std::make_shared<Exchange>("req_1", [this] { ++wakes; });
  std::unique_ptr<Answer> answer;
};

}  // namespace

TEST_CASE("http: a failure before the first event is a plain error", "[http]") {
  Fixture f(true);
  REQUIRE(f.add(MORTISE_EVENT_ERROR, ""));
  const Exchange::Part part = f.exchange->take();
  REQUIRE(part.head);
  CHECK(part.head->status == 500);
  CHECK_FALSE(part.is_stream);
  CHECK(json::parse(part.head->body).value()["error"]["message"] == "the kernel failed");
}

TEST_CASE("http: a failure within a stream is its last event, and the connection closes", "[http]") {
  Fixture f(true);
  CHECK_FALSE(f.add(MORTISE_EVENT_DELTA, "Hel", {'H', 'e', 'l'}));
  REQUIRE(f.add(MORTISE_EVENT_ERROR, ""));
  const Exchange::Part part = f.exchange->take();
  REQUIRE(part.head);
  CHECK(part.head->status == 200);
  CHECK(part.is_stream);
  CHECK(part.is_over);
  CHECK(part.is_broken);
  CHECK(part.text.find("\"content\":\"Hel\"") != std::string::npos);
  CHECK(part.text.find("[DONE]") == std::string::npos);
  CHECK(part.text.find("\"finish_reason\":\"") == std::string::npos);
  const size_t last = part.text.rfind("data: ");
  CHECK(json::parse(part.text.substr(last + 6)).value()["error"]["type"] == "server_error");
}

TEST_CASE("http: bytes of tokens are exact, and no log-probability is infinite", "[http]") {
  Fixture f(false, true);
  const uint32_t top_ids[] = {0x98, 'x'};
  const float top[] = {-1.5f, -INFINITY};
  const mortise_logprob logprobs[] = {{NAN, 0, nullptr, nullptr}, {-1.5f, 2, top_ids, top}};
  REQUIRE(f.add(MORTISE_EVENT_DONE, "\xEF\xBF\xBD", {0xF0, 0x98}, logprobs));
  const Exchange::Part part = f.exchange->take();
  const auto choice = json::parse(part.head->body).value()["choices"][0];
  const auto tokens = choice["logprobs"]["content"];
  CHECK(tokens[0]["bytes"] == json::Value::array({0xF0}));
  CHECK(tokens[0]["logprob"] == -9999.0);
  CHECK(tokens[1]["bytes"] == json::Value::array({0x98}));
  CHECK(tokens[1]["top_logprobs"][0]["logprob"] == -1.5);
  CHECK(tokens[1]["top_logprobs"][1]["logprob"] == -9999.0);
}

TEST_CASE("http: a stream that nobody reads is given up, and its request cancelled", "[http]") {
  Fixture f(true);
  int cancelled = 0;
  f.exchange->on_gone([&] { ++cancelled; });
  const std::string piece(64 * 1024, 'x');
  for (size_t sent = 0; sent <= kUnsentBytesMax; sent += piece.size())
    f.add(MORTISE_EVENT_DELTA, piece, {'x'});
  CHECK(cancelled == 1);
  CHECK(f.exchange->is_gone());
  CHECK(f.exchange->take().is_broken);
}

TEST_CASE("http: the wake comes once until something is taken", "[http]") {
  Fixture f(true);
  f.add(MORTISE_EVENT_DELTA, "a", {'a'});
  f.add(MORTISE_EVENT_DELTA, "b", {'b'});
  CHECK(f.wakes == 1);
  CHECK(f.exchange->take().text.find("\"content\":\"b\"") != std::string::npos);
  CHECK(f.exchange->take().empty());
  f.add(MORTISE_EVENT_DELTA, "c", {'c'});
  CHECK(f.wakes == 2);
}

TEST_CASE("http: who has left already is told so at once", "[http]") {
  Fixture f(false);
  f.exchange->leave();
  bool told = false;
  f.exchange->on_gone([&] { told = true; });
  CHECK(told);
}

TEST_CASE("http: what the template refuses is about the messages", "[http]") {
  const ApiError none = unrenderable({Code::not_found, "chat template", "the model has none"});
  CHECK(none.status == 400);
  CHECK(none.param == "messages");
  CHECK(none.message == "chat template: the model has none");
  CHECK(unrenderable({Code::bad_argument, "messages[1].role", "is odd"}).param == "messages[1].role");
  CHECK(unrenderable({Code::internal, "chat template", "fault"}).status == 500);
}

TEST_CASE("http: addresses of this machine alone", "[http]") {
  CHECK(parse_listen("127.0.0.1:8080")->text() == "127.0.0.1:8080");
  CHECK(parse_listen("127.9.9.9:0")->ip == "127.9.9.9");
  CHECK(parse_listen("localhost:1")->ip == "127.0.0.1");
  CHECK(parse_listen("[0:0::1]:65535")->text() == "[::1]:65535");
  for (const char* text :
       {"", ":", ":80", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1", "127.0.0.1:8x",
        "0.0.0.0:80", "[::]:80", "::1:80", "[::1]", "127.1:80", "evil:80"}) {
    INFO(text);
    const auto parsed = parse_listen(text);
    REQUIRE_FALSE(parsed);
    CHECK(parsed.error().where == "plugin.http.listen");
  }
}
