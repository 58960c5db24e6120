// Front end "stdio": standard input and output, for machines (jsonl), pipes (text) and people (chat).
// Thread rule: run on the front end's thread; drain, stop and interrupt on the main one. Flow: run picks the
// mode.
#include <mortise/cpp/part.h>
#include <mortise/frontend.h>
#include <unistd.h>

#include "jsonl.h"

namespace mortise::stdio {
namespace {

#define STDIO_PARAMS(MORTISE_PARAM) \
  MORTISE_PARAM(choice, mode, "\"jsonl\"", "jsonl", config, "who is at the other end: a machine (jsonl)")

MORTISE_PARAMS(StdioParams, STDIO_PARAMS);

class Stdio {
 public:
  Stdio(Host, const StdioParams&) {}

  mortise_status run(const mortise_services& services, mortise_error* error) {
    return guard(error, [&] { return run_jsonl(services, control_, STDIN_FILENO, STDOUT_FILENO); });
  }
  client::Control& control() { return control_; }

 private:
  client::Control control_;
};

const mortise_frontend kTable = {
    sizeof(mortise_frontend),
    MORTISE_NEEDS_ENGINE,
    [](void* self, const mortise_services* services, mortise_error* error) {
      return static_cast<Stdio*>(self)->run(*services, error);
    },
    [](void* self, uint32_t deadline_ms) { static_cast<Stdio*>(self)->control().drain(deadline_ms); },
    [](void* self) { static_cast<Stdio*>(self)->control().stop(); },
    nullptr};

constexpr mortise_part kPart = make_part<Stdio, StdioParams>("frontend", "stdio", MORTISE_FRONTEND_ID,
                                                             "standard input and output", &kTable);

}  // namespace
}  // namespace mortise::stdio

MORTISE_PLUGIN("mortise.frontend.stdio", "0.1.0", "Apache-2.0",
               MORTISE_FRONTEND_ID " " MORTISE_ENGINE_ID " " MORTISE_TEXT_ID, "frontend:stdio", "",
               &mortise::stdio::kPart);
