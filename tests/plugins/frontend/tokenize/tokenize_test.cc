// The tokenize front end over a tokenizer of bytes.
// Thread rule: single-threaded but for one run on a thread of its own. Flow: lines in, lines out.
#include "tokenize.h"

#include <catch2/catch.hpp>

#include "plugins/frontend/session.h"

using namespace mortise;

TEST_CASE("tokenize: text to ids, tokens and the text again") {
  fake::Text service;
  service.add_bos = true;
  const client::Text text(service.get());
  CHECK(tokenize::answer(text, R"({"text":"a<turn>\u20ac"})") ==
        "{\"ids\":[97,257,226,130,172],\"tokens\":[\"a\",\"<turn>\",\"\xEF\xBF\xBD\",\"\xEF\xBF\xBD\","
        "\"\xEF\xBF\xBD\"],\"decoded\":\"a<turn>\xE2\x82\xAC\"}");
  CHECK(tokenize::answer(text, R"({"text":"<turn>","parse_special":false})").find("{\"ids\":[60,116,") == 0);
  CHECK(tokenize::answer(text, R"({"text":"a","add_special":true})") ==
        R"({"ids":[256,97],"tokens":["<bos>","a"],"decoded":"<bos>a"})");
  CHECK(tokenize::answer(text, R"({"text":""})") == R"({"ids":[],"tokens":[],"decoded":""})");
  CHECK(tokenize::answer(text, R"({"ids":[104,105,257]})") ==
        R"({"ids":[104,105,257],"tokens":["h","i","<turn>"],"decoded":"hi<turn>"})");
}

TEST_CASE("tokenize: a bad line is answered with what is wrong") {
  fake::Text service;
  const client::Text text(service.get());
  const auto param = [&](const std::string& line) {
    const std::string out = tokenize::answer(text, line);
    CHECK(out.find("{\"error\":{\"code\":\"bad_") == 0);
    const size_t at = out.find("\"param\":") + 8;
    return out.substr(at, out.size() - at - 2);
  };
  CHECK(param("x") == "null");
  CHECK(param("[]") == "null");
  CHECK(param("{}") == "\"text\"");
  CHECK(param(R"({"text":"a","ids":[1]})") == "\"text\"");
  CHECK(param(R"({"text":1})") == "\"text\"");
  CHECK(param(R"({"ids":[999]})") == "\"ids\"");
  CHECK(param(R"({"ids":[-1]})") == "\"ids\"");
  CHECK(param(R"({"ids":"a"})") == "\"ids\"");
  CHECK(param(R"({"text":"a","addspecial":true})") == "\"addspecial\"");
  CHECK(param(R"({"text":"a","add_special":1})") == "\"add_special\"");
}

TEST_CASE("tokenize: lines in order until the input is over") {
  fake::Session session;
  session.start([](const mortise_services& services, client::Control& control, int in, int out) {
    return tokenize::run(services, control, in, out);
  });
  session.say("{\"text\":\"a\"}\n\n{\"ids\":[98]}");
  CHECK(session.hear() == R"({"ids":[97],"tokens":["a"],"decoded":"a"})");
  session.end();
  CHECK(session.hear() == R"({"ids":[98],"tokens":["b"],"decoded":"b"})");
  CHECK(session.finish());

  fake::Session stopped;
  stopped.start([](const mortise_services& services, client::Control& control, int in, int out) {
    return tokenize::run(services, control, in, out);
  });
  stopped.control.stop();
  CHECK(stopped.finish());

  fake::Session none;
  none.services.text = nullptr;
  none.start([](const mortise_services& services, client::Control& control, int in, int out) {
    return tokenize::run(services, control, in, out);
  });
  CHECK(none.finish().error().where == "use.tokenizer");
}
