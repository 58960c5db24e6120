// Front end "tokenize": what the pipeline's tokenizer makes of a text.
// Thread rule: run on the front end's thread; drain and stop on the main one. Flow: registration; the work is
// in tokenize.cc.
#include <mortise/cpp/part.h>
#include <mortise/frontend.h>
#include <unistd.h>

#include "tokenize.h"

namespace mortise::tokenize {
namespace {

class Frontend {
 public:
  Frontend(Host, const NoParams&) {}
  client::Control control;
};

const mortise_frontend kTable = {
    sizeof(mortise_frontend),
    MORTISE_NEEDS_TEXT,
    [](void* self, const mortise_services* services, mortise_error* error) {
      const client::Control& control = static_cast<Frontend*>(self)->control;
      return guard(error, [&] { return run(*services, control, STDIN_FILENO, STDOUT_FILENO); });
    },
    [](void* self, uint32_t) { static_cast<Frontend*>(self)->control.stop(); },
    [](void* self) { static_cast<Frontend*>(self)->control.stop(); },
    nullptr};

constexpr mortise_part kPart = make_part<Frontend>("frontend", "tokenize", MORTISE_FRONTEND_ID,
                                                   "text to token ids and back, as JSON lines", &kTable);

}  // namespace
}  // namespace mortise::tokenize

MORTISE_PLUGIN("mortise.frontend.tokenize", "0.1.0", "Apache-2.0", MORTISE_FRONTEND_ID " " MORTISE_TEXT_ID,
               "frontend:tokenize", "", &mortise::tokenize::kPart);
