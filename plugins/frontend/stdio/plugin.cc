// Front end "stdio": standard input and output, for machines (jsonl), pipes (text) and people (chat).
// Thread rule: run on the front end's thread; drain, stop and interrupt on the main one. Flow: run picks the
// mode.
#include <mortise/cpp/part.h>
#include <mortise/frontend.h>
#include <unistd.h>

#include "chat.h"
#include "client/frontend.h"
#include "editor.h"
#include "jsonl.h"
#include "screen.h"
#include "text.h"

namespace mortise::stdio {
namespace {

#define STDIO_PARAMS(MORTISE_PARAM)                                                                          \
  MORTISE_PARAM(choice, mode, "\"chat\"", "chat|text|jsonl", config,                                         \
                "who is at the other end: a person (chat), a pipe (text), a machine (jsonl)")                \
  MORTISE_PARAM(string, system, "\"\"", nullptr, config, "the system message of chat and text; empty: none") \
  MORTISE_PARAM(bool, stats, "false", nullptr, config, "show time and speed after answers of chat and text")

MORTISE_PARAMS(StdioParams, STDIO_PARAMS);

class Stdio {
 public:
  Stdio(Host host, const StdioParams& params)
      : host_(host), mode_(params.mode.value), system_(params.system.value), stats_(params.stats) {}

  Result<void> run(const mortise_services& services) {
    if (mode_ == "jsonl") return run_jsonl(services, control_, STDIN_FILENO, STDOUT_FILENO);
    Screen screen(STDOUT_FILENO, [this](const std::string& line) { host_.log(MORTISE_LOG_WARNING, line); });
    if (mode_ == "text") return run_text(services, {system_, stats_}, control_, STDIN_FILENO, screen);
    const auto editor = make_editor(stdin, stdout, control_);
    return run_chat(services, {system_, stats_}, control_, *editor, screen);
  }
  uint32_t needs() const { return MORTISE_NEEDS_ENGINE; }
  client::Control& control() { return control_; }
  bool interrupt() {
    if (mode_ == "jsonl") return false;
    control_.interrupt();
    return true;
  }

 private:
  const Host host_;
  const std::string mode_, system_;
  const bool stats_;
  client::Control control_;
};

constexpr uint64_t kSuits = 100;  // who names no front end wants answers at hand

constexpr mortise_frontend kTable = client::make_frontend<Stdio>(kSuits);

constexpr mortise_part kPart = make_part<Stdio, StdioParams>("frontend", "stdio", MORTISE_FRONTEND_ID,
                                                             "standard input and output", &kTable);

}  // namespace
}  // namespace mortise::stdio

MORTISE_PLUGIN("mortise.frontend.stdio", "0.1.0", "Apache-2.0",
               MORTISE_FRONTEND_ID " " MORTISE_ENGINE_ID " " MORTISE_TEXT_ID, "frontend:stdio", "",
               &mortise::stdio::kPart);
