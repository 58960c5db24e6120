// Mode "chat" through a pipe: commands, history, dropped turns, interrupts.
// Thread rule: the chat runs on a thread of its own. Flow: lines in, answers and notices out.
#include "chat.h"

#include <catch2/catch.hpp>

#include "plugins/frontend/session.h"

using namespace mortise;
using fake::delta;
using fake::done;

namespace {

constexpr mortise_param kTemperature{sizeof(mortise_param),
                                     MORTISE_FLOAT,
                                     MORTISE_PARAM_REQUEST,
                                     0,
                                     "temperature",
                                     "1.0",
                                     "[0,)",
                                     nullptr,
                                     "how evenly tokens are drawn"};

struct ChatMode : fake::Session {
  stdio::ChatOptions options;
  std::vector<std::string> logged;
  void start() {
    engine.params = {&kTemperature};
    Session::start([this](const mortise_services& services, client::Control& control, int in, int out) {
      std::FILE* const input = fdopen(dup(in), "r");
      std::FILE* const output = fdopen(dup(out), "w");
      const auto editor = stdio::make_editor(input, output, control);
      stdio::Screen screen(out, [this](const std::string& line) { logged.push_back(line); });
      const auto done = stdio::run_chat(services, options, control, *editor, screen);
      fclose(input);
      fclose(output);
      return done;
    });
  }
  std::string prompt(size_t index) {
    const auto requests = engine.wait_for(index + 1);
    std::string text;
    for (const uint32_t id : requests.at(index).prompt)
      text += id == 257 ? "<turn>" : id == 256 ? "<bos>" : std::string(1, static_cast<char>(id));
    return text;
  }
  void finish_well() {
    end();
    CHECK(finish());
    CHECK(rest() == "");
  }
};

std::vector<fake::Event> echo(const fake::Request& request) {
  fake::Event end = done();
  end.prompt_tokens = request.prompt.size();
  end.completion_tokens = 2;
  return {delta("A" + std::to_string(request.id), {65}), end};
}

}  // namespace

TEST_CASE("chat: turns build on each other") {
  ChatMode session;
  session.options.system = "S";
  session.engine.script = echo;
  session.start();
  session.say("one\n\n  two  \n");
  CHECK(session.hear() == "A1");
  CHECK(session.hear() == "A2");
  CHECK(session.prompt(0) == "<turn>system:S<turn>user:one<turn>");
  CHECK(session.prompt(1) == "<turn>system:S<turn>user:one<turn>assistant:A1<turn>user:two<turn>");
  session.say("/reset\n/system T\nthree\n");
  CHECK(session.hear() == "A3");
  CHECK(session.prompt(2) == "<turn>system:T<turn>user:three<turn>");
  session.say("/bye\nnever\n");
  session.finish_well();
  CHECK(session.engine.wait_for(3).size() == 3);
}

TEST_CASE("chat: several lines between fences are one question, also where it looks like a command") {
  ChatMode session;
  session.engine.script = echo;
  session.start();
  session.say("\"\"\"\n/help me\n  indented\n\"\"\"\n\"\"\"one line\"\"\"\n\"\"\"open\nand closed\"\"\"\n");
  for (const char* line : {"A1", "A2", "A3"}) CHECK(session.hear() == line);
  CHECK(session.prompt(0) == "<turn>user:/help me\n  indented<turn>");
  CHECK(session.prompt(1).find("user:one line<turn>") != std::string::npos);
  CHECK(session.prompt(2).find("user:open\nand closed<turn>") != std::string::npos);
  session.finish_well();
}

TEST_CASE("chat: parameters are set, listed and unset") {
  ChatMode session;
  session.engine.script = echo;
  session.start();
  session.say("/set temperature 0.5\nx\n/set\n");
  CHECK(session.hear() == "A1");
  CHECK(session.hear() == "{\"temperature\":0.5}");
  CHECK(session.engine.wait_for(1)[0].parameters == "{\"temperature\":0.5}");
  session.say("/show\n");
  CHECK(session.hear() == "model    fake-model (fake-model.bin)");
  CHECK(session.hear() == "context  4096 tokens, 1 turns so far");
  CHECK(session.hear() == "system   none");
  CHECK(session.hear() == "parameters");
  CHECK(session.hear() == "  temperature = 0.5  [0,)  how evenly tokens are drawn");
  session.say("/set temperature\ny\n/stats\n");
  CHECK(session.hear() == "A2");
  CHECK(session.engine.wait_for(2)[1].parameters == "");
  CHECK(session.hear().find("time to first token") == 0);
  session.say("/set tempratur 1\n/nonsense\n/help\n");
  CHECK(session.hear().find("/system TEXT") == 0);
  session.end();
  CHECK(session.finish());
  CHECK(session.logged ==
        std::vector<std::string>{"tempratur: is no parameter of this pipeline; /show lists them",
                                 "'/nonsense' is no command; /help lists them"});
}

TEST_CASE("chat: the oldest turns are dropped whole, the system message stays, and it says so") {
  ChatMode session;
  session.engine.context = 80;  // 20 of them kept free for the answer
  session.options.system = "S";
  session.engine.script = echo;
  session.start();
  session.say("first question\nsecond one!\n");
  CHECK(session.hear() == "A1");
  CHECK(session.hear() == "A2");
  session.say("third question, a longer one\n");
  CHECK(session.hear() == "A3");
  CHECK(session.prompt(2) == "<turn>system:S<turn>user:third question, a longer one<turn>");
  session.finish_well();
  CAPTURE(session.logged);
  REQUIRE(session.logged.size() == 2);
  CHECK(session.logged[0] ==
        "[62 of 80 tokens of context used; the oldest turns will be dropped, /reset begins anew]");
  CHECK(session.logged[1] ==
        "[the context is full; dropped the oldest 2 turns: \"first question\", \"second one!\"]");
}

TEST_CASE("chat: an interrupt stops the answer and the chat goes on with what came") {
  ChatMode session;
  session.engine.script = [](const fake::Request& request) {
    if (request.id > 1) return echo(request);
    return std::vector{delta("part", {1})};  // and never an end
  };
  session.start();
  session.say("one\n");
  session.engine.wait_for(1);
  while (session.silent(100)) {
  }
  session.control.interrupt();
  CHECK(session.hear() == "part");
  session.say("two\n");
  CHECK(session.hear() == "A2");
  CHECK(session.prompt(1) == "<turn>user:one<turn>assistant:part<turn>user:two<turn>");
  CHECK(session.engine.cancelled() == std::set<uint64_t>{1});
  session.finish_well();
}

TEST_CASE("chat: a failed question is told and leaves no trace in the history") {
  ChatMode session;
  session.engine.script = echo;
  session.engine.check = [](const fake::Request& request) -> Result<void> {
    if (request.prompt.size() > 30) return fail(Code::limit, "", "has 31 tokens, the context holds 30");
    return {};
  };
  session.start();
  session.say("a question that is much too long\nshort\n");
  CHECK(session.hear() == "A1");
  CHECK(session.prompt(0) == "<turn>user:short<turn>");
  session.finish_well();
  CHECK(session.logged == std::vector<std::string>{"has 31 tokens, the context holds 30"});
}

TEST_CASE("chat: a model without a template is told at once") {
  ChatMode session;
  session.text.has_template = false;
  session.start();
  CHECK(session.finish().error().message == "the model has no template; name one");
}

TEST_CASE("chat: drain and stop end it, also in the middle of an answer") {
  ChatMode idle;
  idle.start();
  idle.control.drain(1000);
  CHECK(idle.finish());
  for (const bool stop : {false, true}) {
    ChatMode busy;
    busy.engine.hold = true;
    busy.start();
    busy.say("x\n");
    busy.engine.wait_for(1);
    if (stop)
      busy.control.stop();
    else
      busy.control.drain(20);
    CHECK(busy.finish());
    CHECK(busy.engine.cancelled() == std::set<uint64_t>{1});
  }
}
