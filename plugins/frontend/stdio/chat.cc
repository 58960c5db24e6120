// The loop of mode "chat" and its commands.
// Thread rule: the front end's thread. Flow: see chat.h.
#include "chat.h"

#include "client/engine.h"
#include "client/text.h"
#include "conversation.h"
#include "settings.h"
#include "turn.h"

namespace mortise::stdio {
namespace {

constexpr std::string_view kFence = "\"\"\"";
constexpr uint64_t kHintPercent = 75;  // of the context, from which on a hint is shown
constexpr size_t kExcerptBytes = 40;

constexpr const char* kHelp =
    "/system TEXT     the system message from now on; alone: none\n"
    "/set NAME VALUE  a request parameter from now on; without VALUE: the pipeline's own\n"
    "/show            model, context, system message and parameters\n"
    "/reset           forget the conversation, keep the system message\n"
    "/stats           figures of the last answer\n"
    "/bye             end (or Ctrl-D)\n"
    "\"\"\"              begins and ends a question of several lines\n"
    "Ctrl-C           stops the answer, or clears the line";

/// The first line of a question, shortened, never within a character.
std::string excerpt(const std::string& question) {
  size_t size = std::min(question.find('\n'), question.size());
  if (size == question.size() && size <= kExcerptBytes) return question;
  size = std::min(size, kExcerptBytes);
  while (size > 0 && (static_cast<unsigned char>(question[size]) & 0xC0) == 0x80) --size;
  return question.substr(0, size) + "…";
}

std::string trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return "";
  return std::string(text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1));
}

class Chat {
 public:
  Chat(const mortise_services& services, const ChatOptions& options, client::Control& control, Editor& editor,
       Screen& screen, client::Channel& channel)
      : services_(services),
        options_(options),
        control_(control),
        editor_(editor),
        screen_(screen),
        channel_(channel),
        text_(services.text),
        settings_(services.engine) {
    conversation_.system = options.system;
    info_.size = sizeof(info_);
    services.engine->info(services.engine->ctx, &info_);
  }

  Result<void> run() {
    if (screen_.terminal())
      MORTISE_CHECK(screen_.notice(std::string(view(info_.model)) + ", context of " +
                                   std::to_string(info_.context) + " tokens. /help lists the commands."));
    while (!over_) {
      std::string input;
      MORTISE_TRY(got, read_input(&input));
      if (got == Editor::Got::end) return {};
      if (got == Editor::Got::interrupted) {
        MORTISE_CHECK(screen_.notice("Ctrl-D or /bye ends the chat."));
        continue;
      }
      if (input.empty()) continue;
      if (input[0] == '/')
        MORTISE_CHECK(command(input));
      else
        MORTISE_CHECK(ask(input));
    }
    return {};
  }

 private:
  /// A line, or several between fences.
  Result<Editor::Got> read_input(std::string* input) {
    MORTISE_TRY(got, editor_.read(">>> ", input));
    if (got != Editor::Got::line) return got;
    *input = trimmed(*input);
    if (input->rfind(kFence, 0) != 0) {
      if (!input->empty()) editor_.remember(*input);
      return got;
    }
    input->erase(0, kFence.size());
    size_t end = input->find(kFence);
    while (end == std::string::npos) {
      std::string more;
      MORTISE_TRY(next, editor_.read("... ", &more));
      if (next != Editor::Got::line) return next;
      const size_t before = input->size();
      *input += (input->empty() ? "" : "\n") + more;
      end = input->find(kFence, before);
    }
    input->resize(end);
    if (!input->empty() && input->back() == '\n') input->pop_back();
    // What stands between fences is a question, whatever it begins with.
    if (!input->empty()) MORTISE_CHECK(ask(*input));
    input->clear();
    return got;
  }

  Result<void> ask(const std::string& question) {
    std::vector<std::string> dropped;
    auto turn = conversation_.fit(text_, question, info_.context, &dropped);
    if (!turn) return screen_.problem(turn.error().text());
    if (!dropped.empty()) MORTISE_CHECK(tell_dropped(dropped));
    turn->parameters = settings_.parameters();
    auto outcome = answer(services_, channel_, control_, *turn, screen_);
    if (control_.stopping() || channel_.closed()) {
      over_ = true;
      return {};
    }
    if (!outcome) return failed(outcome.error());
    last_ = std::move(*outcome);
    answered_ = true;
    // An answer that was stopped is part of the talk as far as it came.
    if (!last_.content.empty()) conversation_.add(question, last_.content);
    if (last_.cancelled) MORTISE_CHECK(screen_.notice("[stopped]"));
    if (options_.stats) MORTISE_CHECK(screen_.notice("[" + last_.figures() + "]"));
    return hint();
  }

  Result<void> failed(const Error& error) {
    if (error.where == "standard output") return pass(error);
    return screen_.problem(error.text());
  }

  Result<void> tell_dropped(const std::vector<std::string>& dropped) {
    std::string line =
        "[the context is full; dropped the oldest " +
        (dropped.size() == 1 ? std::string("turn") : std::to_string(dropped.size()) + " turns") + ":";
    for (size_t i = 0; i < dropped.size(); ++i)
      line += (i == 0 ? " \"" : ", \"") + excerpt(dropped[i]) + "\"";
    return screen_.notice(line + "]");
  }

  Result<void> hint() {
    const uint64_t used = last_.prompt_tokens + last_.completion_tokens;
    if (used * 100 < info_.context * kHintPercent) return {};
    return screen_.notice("[" + std::to_string(used) + " of " + std::to_string(info_.context) +
                          " tokens of context used; the oldest turns will be dropped, /reset begins anew]");
  }

  Result<void> command(const std::string& input) {
    const size_t blank = std::min(input.find(' '), input.size());
    const std::string name = input.substr(0, blank), rest = trimmed(input.substr(blank));
    if (name == "/help" || name == "/?") return screen_.line(kHelp);
    if (name == "/show") return show();
    if (name == "/set") return set(rest);
    if (name == "/stats") return screen_.line(answered_ ? last_.figures() : "nothing was answered yet");
    if (name == "/system") {
      conversation_.system = rest;
      return screen_.notice(rest.empty() ? "no system message" : "system message set");
    }
    if (name == "/reset") {
      conversation_.reset();
      return screen_.notice("conversation forgotten");
    }
    if (name == "/bye" || name == "/exit" || name == "/quit") {
      over_ = true;
      return {};
    }
    return screen_.problem("'" + name + "' is no command; /help lists them");
  }

  Result<void> set(const std::string& rest) {
    if (rest.empty()) return screen_.line(settings_.parameters().empty() ? "{}" : settings_.parameters());
    const size_t blank = std::min(rest.find(' '), rest.size());
    const auto done = settings_.set(rest.substr(0, blank), trimmed(rest.substr(blank)));
    return done ? Result<void>() : screen_.problem(done.error().text());
  }

  Result<void> show() {
    std::string out = "model    " + std::string(view(info_.model)) + " (" +
                      std::string(view(info_.model_path)) + ")\ncontext  " + std::to_string(info_.context) +
                      " tokens, " + std::to_string(conversation_.turns()) + " turns so far\nsystem   " +
                      (conversation_.system.empty() ? "none" : conversation_.system) + "\nparameters\n" +
                      settings_.table();
    out.pop_back();
    return screen_.line(out);
  }

  const mortise_services& services_;
  const ChatOptions& options_;
  client::Control& control_;
  Editor& editor_;
  Screen& screen_;
  client::Channel& channel_;
  const client::Text text_;
  Settings settings_;
  Conversation conversation_;
  mortise_engine_info info_{};
  Outcome last_;
  bool answered_ = false;
  bool over_ = false;
};

}  // namespace

Result<void> run_chat(const mortise_services& services, const ChatOptions& options, client::Control& control,
                      Editor& editor, Screen& screen) {
  const client::Text text(services.text);
  if (!text.has_template())  // the text service says how to name one
    MORTISE_CHECK([&]() -> Result<void> {
      const auto rendered = text.render(R"({"messages":[{"role":"user","content":"?"}]})");
      return rendered ? Result<void>() : pass(rendered.error());
    }());
  MORTISE_TRY(channel, client::Channel::open(services.engine));
  return Chat(services, options, control, editor, screen, *channel).run();
}

}  // namespace mortise::stdio
