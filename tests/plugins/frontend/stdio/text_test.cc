// Mode "text": a question in, the answer out, nothing else.
// Thread rule: the mode runs on a thread of its own. Flow: question by argument or pipe, answer by pipe.
#include "text.h"

#include <catch2/catch.hpp>

#include "plugins/frontend/session.h"

using namespace mortise;
using fake::delta;
using fake::done;

namespace {

struct TextMode : fake::Session {
  stdio::TextOptions options;
  std::vector<std::string> logged;
  std::vector<mortise_str> arguments;
  void start() {
    Session::start([this](const mortise_services& services, client::Control& control, int in, int out) {
      stdio::Screen screen(out, [this](const std::string& line) { logged.push_back(line); });
      return stdio::run_text(services, options, control, in, screen);
    });
  }
  std::string prompt() {
    const auto requests = engine.wait_for(1);
    std::string text;
    for (const uint32_t id : requests.at(0).prompt)
      text += id == 257 ? "<turn>" : id == 256 ? "<bos>" : std::string(1, static_cast<char>(id));
    return text;
  }
};

}  // namespace

TEST_CASE("text: the question from the arguments goes through the template") {
  TextMode session;
  session.arguments = {str("What"), str("is it?")};
  session.services.arguments = session.arguments.data();
  session.services.argument_count = 2;
  session.options.system = "Be brief.";
  session.engine.script = [](const fake::Request&) {
    return std::vector{delta("~thinking", {1}), delta("It is", {1}), delta(" this.", {2}), done()};
  };
  session.start();
  CHECK(session.finish());
  CHECK(session.rest() == "It is this.\n");
  CHECK(session.prompt() == "<turn>system:Be brief.<turn>user:What is it?<turn>");
  CHECK(session.logged.empty());
}

TEST_CASE("text: a model without a template goes on with the text, from standard input") {
  TextMode session;
  session.text.has_template = false;
  session.text.add_bos = true;
  session.engine.script = [](const fake::Request&) {
    return std::vector{delta("\x1b[31mraw\n", {1}), done()};
  };
  session.start();
  session.say("Once upon\na time\n");
  session.end();
  CHECK(session.finish());
  CHECK(session.rest() == "\x1b[31mraw\n");  // a pipe gets what the model said, byte by byte
  CHECK(session.prompt() == "<bos>Once upon\na time");
}

TEST_CASE("text: figures where they are asked for") {
  TextMode session;
  session.options.stats = true;
  session.engine.script = [](const fake::Request&) {
    fake::Event end = done();
    end.prompt_tokens = 9;
    end.completion_tokens = 11;
    end.submitted_ns = 1'000'000'000;
    end.first_token_ns = 1'250'000'000;
    end.finished_ns = 2'250'000'000;
    return std::vector{delta("yes", {1}), end};
  };
  session.start();
  session.say("?");
  session.end();
  CHECK(session.finish());
  CHECK(session.rest() ==
        "yes\n\n[time to first token 0.25 s, 10.0 tokens/s, 9 prompt tokens (0 cached), 11 tokens]\n");
}

TEST_CASE("text: no question, an error, an interrupt") {
  TextMode empty;
  empty.start();
  empty.end();
  CHECK(empty.finish().error().where == "question");

  TextMode refused;
  refused.engine.check = [](const fake::Request&) -> Result<void> {
    return fail(Code::limit, "", "too long");
  };
  refused.start();
  refused.say("x");
  refused.end();
  CHECK(refused.finish().error().message == "too long");

  TextMode interrupted;
  interrupted.engine.hold = true;
  interrupted.start();
  interrupted.say("x");
  interrupted.end();
  interrupted.engine.wait_for(1);
  interrupted.control.interrupt();
  CHECK(interrupted.finish().error().code == Code::cancelled);
  CHECK(interrupted.engine.cancelled() == std::set<uint64_t>{1});

  TextMode waiting;  // for the question
  waiting.start();
  waiting.control.interrupt();
  CHECK(waiting.finish().error().code == Code::cancelled);
}
