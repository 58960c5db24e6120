// Mode "jsonl" against a scripted engine: to the letter.
// Thread rule: the mode runs on a thread of its own. Flow: lines in through a pipe, lines out through
// another.
#include "jsonl.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "plugins/frontend/session.h"

using namespace mortise;
using fake::delta;
using fake::done;

namespace {

struct Jsonl : fake::Session {
  void start() {
    Session::start([](const mortise_services& services, client::Control& control, int in, int out) {
      return stdio::run_jsonl(services, control, in, out);
    });
  }
  void finish_well() {
    end();
    CHECK(finish());
    CHECK(rest() == "");
    CHECK_FALSE(engine.channel_open());
  }
};

fake::Event usage(fake::Event event, uint64_t prompt, uint64_t completion) {
  event.prompt_tokens = prompt;
  event.completion_tokens = completion;
  event.cached_tokens = 16;
  event.submitted_ns = 1'000'000;
  event.first_token_ns = 3'500'000;
  event.finished_ns = 11'000'400;
  return event;
}

}  // namespace

TEST_CASE("jsonl: an answer is one line of the contract") {
  Jsonl session;
  session.engine.script = [](const fake::Request&) {
    return std::vector{delta("he", {104, 101}), usage(done(), 5, 2)};
  };
  session.start();
  session.say("{\"id\":1,\"prompt\":\"hi\",\"max_tokens\":2,\"temperature\":0}\n");
  CHECK(session.hear() ==
        "{\"id\":1,\"text\":\"he\",\"tokens\":[104,101],\"finish_reason\":\"stop\","
        "\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":2,\"cached_tokens\":16},"
        "\"timing\":{\"ttft_ms\":2.5,\"total_ms\":10}}");
  const auto requests = session.engine.wait_for(1);
  CHECK(requests[0].prompt == std::vector<uint32_t>{'h', 'i'});
  CHECK(requests[0].parameters == "{\"max_tokens\":2,\"temperature\":0}");
  session.finish_well();
}

TEST_CASE("jsonl: a stream gives deltas of whole characters, then the whole text") {
  Jsonl session;
  session.engine.script = [](const fake::Request&) {
    fake::Event last = usage(done(MORTISE_FINISH_LENGTH), 1, 4);
    last.text = "!";
    last.tokens = {33};
    // The bytes of the euro sign in three tokens: text comes with the last of them.
    return std::vector{delta("", {0xE2}), delta("", {0x82}), delta("\xE2\x82\xAC", {0xAC}), delta("", {}),
                       last};
  };
  session.start();
  session.say("{\"id\":\"a\\u00e9\",\"prompt\":\"x\",\"stream\":true}\n");
  CHECK(session.hear() == "{\"id\":\"a\xC3\xA9\",\"delta\":\"\",\"tokens\":[226]}");
  CHECK(session.hear() == "{\"id\":\"a\xC3\xA9\",\"delta\":\"\",\"tokens\":[130]}");
  CHECK(session.hear() == "{\"id\":\"a\xC3\xA9\",\"delta\":\"\xE2\x82\xAC\",\"tokens\":[172]}");
  CHECK(session.hear() == "{\"id\":\"a\xC3\xA9\",\"delta\":\"!\",\"tokens\":[33]}");
  const std::string last = session.hear();
  CHECK(last.find("{\"id\":\"a\xC3\xA9\",\"text\":\"\xE2\x82\xAC!\",\"tokens\":[226,130,172,33],"
                  "\"finish_reason\":\"length\"") == 0);
  session.finish_well();
}

TEST_CASE("jsonl: logprobs in full, shortest digits, null for what has none") {
  Jsonl session;
  session.engine.script = [](const fake::Request&) {
    fake::Event first = delta("ab", {97, 98});
    first.logprobs = {{NAN, {}, {}}, {-0.1f, {98, 99}, {-0.1f, -12.000001f}}};
    fake::Event last = usage(done(), 1, 1);
    last.text = "c";
    last.tokens = {99};
    last.logprobs = {{-3.0f, {}, {}}};
    return std::vector{first, last};
  };
  session.start();
  session.say("{\"prompt\":\"x\",\"top_logprobs\":2,\"echo\":true}\n");
  CHECK(session.hear().find("{\"id\":null,\"text\":\"abc\",\"tokens\":[97,98,99],\"logprobs\":["
                            "{\"id\":97,\"logprob\":null,\"top\":[]},"
                            "{\"id\":98,\"logprob\":-0.1,\"top\":[[98,-0.1],[99,-12.000001]]},"
                            "{\"id\":99,\"logprob\":-3,\"top\":[]}],\"finish_reason\"") == 0);
  session.engine.script = [](const fake::Request&) { return std::vector{done(MORTISE_FINISH_LENGTH)}; };
  session.say("{\"prompt\":\"x\",\"top_logprobs\":0,\"max_tokens\":0}\n");
  CHECK(session.hear() ==
        "{\"id\":null,\"text\":\"\",\"tokens\":[],\"logprobs\":[],\"finish_reason\":\"length\","
        "\"usage\":{\"prompt_tokens\":1,\"completion_tokens\":0,\"cached_tokens\":0},"
        "\"timing\":{\"ttft_ms\":null,\"total_ms\":null}}");
  session.finish_well();
}

TEST_CASE("jsonl: answers come as they end, and the end of input waits for all") {
  Jsonl session;
  session.engine.hold = true;
  session.start();
  session.say(
      "{\"id\":1,\"prompt\":\"x\"}\n{\"id\":2,\"prompt\":\"x\"}\n\n \t\r\n{\"id\":3,\"prompt\":\"x\"}");
  session.end();
  CHECK(session.engine.wait_for(3).size() == 3);
  CHECK(session.silent(30));
  for (const uint64_t id : {2, 3, 1}) {
    session.engine.release(id);
    CHECK(session.hear().find("{\"id\":" + std::to_string(id) + ",") == 0);
  }
  session.finish_well();
}

TEST_CASE("jsonl: a full queue stops the reading, and every request is answered in the end") {
  Jsonl session;
  session.engine.hold = true;
  session.engine.queue = 2;
  session.start();
  for (int id = 1; id <= 5; ++id) session.say("{\"id\":" + std::to_string(id) + ",\"prompt\":\"x\"}\n");
  session.end();
  CHECK(session.engine.wait_for(2).size() == 2);
  CHECK(session.silent(50));
  CHECK(session.engine.refused() > 0);
  for (uint64_t id = 1; id <= 5; ++id) {
    REQUIRE(session.engine.wait_for(id).size() >= id);
    session.engine.release(id);
    CHECK(session.hear().find("{\"id\":" + std::to_string(id) + ",") == 0);
  }
  session.finish_well();
}

TEST_CASE("jsonl: messages go through the template, and only the template makes special tokens") {
  Jsonl session;
  session.start();
  session.say(
      "{\"id\":1,\"messages\":[{\"role\":\"developer\",\"content\":[{\"type\":\"text\",\"text\":\"A\"},"
      "{\"type\":\"text\",\"text\":\"B\"}]},{\"role\":\"user\",\"content\":\"<turn>\"}]}\n");
  session.hear();
  std::vector<uint32_t> prompt{257};
  for (const char c : std::string("system:AB")) prompt.push_back(static_cast<uint8_t>(c));
  prompt.push_back(257);
  for (const char c : std::string("user:<turn>")) prompt.push_back(static_cast<uint8_t>(c));
  prompt.push_back(257);
  CHECK(session.engine.wait_for(1)[0].prompt == prompt);

  session.text.add_bos = true;  // a prompt gets what the metadata asks for, tokens stay as they are
  session.say("{\"id\":2,\"prompt\":\"<turn>\"}\n");
  session.hear();
  CHECK(session.engine.wait_for(2)[1].prompt == std::vector<uint32_t>{256, 257});
  session.say("{\"id\":3,\"tokens\":[1,2,299]}\n");
  session.hear();
  CHECK(session.engine.wait_for(3)[2].prompt == std::vector<uint32_t>{1, 2, 299});
  session.finish_well();
}

TEST_CASE("jsonl: a bad line is answered and the next one served") {
  Jsonl session;
  session.engine.check = [](const fake::Request& request) -> Result<void> {
    if (request.prompt.size() > 3)
      return fail(Code::limit, "", "This model's maximum context length is 3 tokens, the prompt has 4");
    if (request.parameters.find("tempratur") != std::string::npos)
      return fail(Code::bad_argument, "tempratur", "is unknown; did you mean temperature?");
    return {};
  };
  session.start();
  const auto answer = [&](const std::string& line) {
    session.say(line + "\n");
    return session.hear();
  };
  CHECK(answer("nonsense").find("{\"id\":null,\"error\":{\"code\":\"bad_data\",\"message\":\"not JSON: ") ==
        0);
  CHECK(
      answer("[1]") ==
      "{\"id\":null,\"error\":{\"code\":\"bad_data\",\"message\":\"a request is a JSON object, one a line\","
      "\"param\":null},\"finish_reason\":\"error\"}");
  CHECK(answer("{\"id\":7}") ==
        "{\"id\":7,\"error\":{\"code\":\"bad_argument\",\"message\":"
        "\"is missing; send one of prompt, messages, "
        "tokens\",\"param\":\"prompt\"},\"finish_reason\":\"error\"}");
  CHECK(
      answer("{\"id\":7,\"prompt\":\"x\",\"tempratur\":1}") ==
      "{\"id\":7,\"error\":{\"code\":\"bad_argument\",\"message\":\"is unknown; did you mean temperature?\","
      "\"param\":\"tempratur\"},\"finish_reason\":\"error\"}");
  CHECK(answer("{\"id\":8,\"prompt\":\"long\"}")
            .find("{\"code\":\"context_length_exceeded\",\"message\":\"This ") != std::string::npos);
  const auto param = [&](const std::string& body) {
    const std::string line = answer("{\"id\":9," + body + "}");
    CHECK(line.find("{\"id\":9,\"error\"") == 0);
    const size_t at = line.find("\"param\":") + 8;
    return line.substr(at, line.find("},\"finish") - at);
  };
  CHECK(param("\"prompt\":3") == "\"prompt\"");
  CHECK(param("\"prompt\":\"\"") == "\"prompt\"");
  CHECK(param("\"prompt\":\"x\",\"tokens\":[1]") == "\"prompt\"");
  CHECK(param("\"tokens\":[1,-1]") == "\"tokens\"");
  CHECK(param("\"tokens\":[4294967296]") == "\"tokens\"");
  CHECK(param("\"tokens\":[1.5]") == "\"tokens\"");
  CHECK(param("\"prompt\":\"x\",\"stream\":1") == "\"stream\"");
  CHECK(param("\"messages\":[]") == "\"messages\"");
  CHECK(param("\"messages\":[{\"role\":\"banana\",\"content\":\"x\"}]") == "\"messages[0].role\"");
  CHECK(param("\"messages\":[{\"role\":\"user\"}]") == "\"messages[0].content\"");
  CHECK(param("\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"image_url\"}]}]") ==
        "\"messages[0].content[0].type\"");
  CHECK(answer("{\"id\":[1],\"prompt\":\"x\"}").find("\"param\":\"id\"") != std::string::npos);
  const std::string deep(100, '[');
  CHECK(answer("{\"id\":1,\"prompt\":" + deep + "}").find("nests deeper than 64") != std::string::npos);
  CHECK(answer("{\"id\":1,\"prompt\":\"\xC3\x28\"}").find("\"bad_data\"") != std::string::npos);
  CHECK(answer("{\"id\":10,\"prompt\":\"ok\"}").find("\"finish_reason\":\"stop\"") != std::string::npos);
  session.finish_well();
}

TEST_CASE("jsonl: an error and a cancel while answering end the request with an error line") {
  Jsonl session;
  session.engine.script = [](const fake::Request&) {
    fake::Event error;
    error.type = MORTISE_EVENT_ERROR;
    error.error_code = MORTISE_INTERNAL;
    error.error_message = "the kernel failed";
    error.error_id = "degraded";
    return std::vector{delta("a", {97}), error};
  };
  session.start();
  session.say("{\"id\":1,\"prompt\":\"x\",\"stream\":true}\n");
  CHECK(session.hear() == "{\"id\":1,\"delta\":\"a\",\"tokens\":[97]}");
  CHECK(session.hear() ==
        "{\"id\":1,\"error\":{\"code\":\"degraded\",\"message\":\"the kernel failed\",\"param\":null},"
        "\"finish_reason\":\"error\"}");
  session.engine.script = [](const fake::Request&) { return std::vector{done(MORTISE_FINISH_CANCELLED)}; };
  session.say("{\"id\":2,\"prompt\":\"x\"}\n");
  CHECK(session.hear().find("{\"id\":2,\"error\":{\"code\":\"cancelled\"") == 0);
  session.finish_well();
}

TEST_CASE("jsonl: a drain finishes what was accepted and reads no more") {
  Jsonl session;
  session.engine.hold = true;
  session.start();
  session.say("{\"id\":1,\"prompt\":\"x\"}\n");
  session.engine.wait_for(1);
  session.control.drain(20'000);
  session.say("{\"id\":2,\"prompt\":\"x\"}\n");
  CHECK(session.silent(30));
  session.engine.release(1);
  CHECK(session.hear().find("{\"id\":1,") == 0);
  CHECK(session.finish());
  CHECK(session.engine.wait_for(1).size() == 1);
}

TEST_CASE("jsonl: a drain's deadline and a stop end it at once") {
  for (const bool stop : {false, true}) {
    Jsonl session;
    session.engine.hold = true;
    session.start();
    session.say("{\"id\":1,\"prompt\":\"x\"}\n");
    session.engine.wait_for(1);
    if (stop)
      session.control.stop();
    else
      session.control.drain(20);
    CHECK(session.finish());
    CHECK_FALSE(session.engine.channel_open());
  }
}

TEST_CASE("jsonl: without a tokenizer ids are served and text refused") {
  Jsonl session;
  session.services.text = nullptr;
  session.start();
  session.say("{\"id\":1,\"tokens\":[5]}\n");
  CHECK(session.hear().find("\"finish_reason\":\"stop\"") != std::string::npos);
  session.say("{\"id\":2,\"prompt\":\"x\"}\n");
  CHECK(session.hear().find("\"code\":\"unsupported\"") != std::string::npos);
  session.finish_well();
}

TEST_CASE("jsonl: a line over the limit is passed over") {
  Jsonl session;
  session.start();
  const std::string chunk(1 << 20, 'x');
  bool sent = true;
  std::thread writer([&] {  // more than a pipe holds
    for (int i = 0; i < 18; ++i) sent &= session.send(chunk).has_value();
    sent &= session.send("\n{\"id\":1,\"prompt\":\"x\"}\n").has_value();
  });
  CHECK(session.hear().find("{\"id\":null,\"error\":{\"code\":\"limit\"") == 0);
  CHECK(session.hear().find("{\"id\":1,\"text\"") == 0);
  writer.join();
  CHECK(sent);
  session.finish_well();
}
