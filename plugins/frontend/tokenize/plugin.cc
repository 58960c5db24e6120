// Front end "tokenize": what the pipeline's tokenizer makes of a text.
// Thread rule: run on the front end's thread; drain and stop on the main one. Flow: registration; the work is
// in tokenize.cc.
#include <mortise/cpp/part.h>
#include <mortise/frontend.h>
#include <unistd.h>

#include "client/frontend.h"
#include "tokenize.h"

namespace mortise::tokenize {
namespace {

class Frontend {
 public:
  Frontend(Host, const NoParams&) {}

  Result<void> run(const mortise_services& services) {
    return tokenize::run(services, control_, STDIN_FILENO, STDOUT_FILENO);
  }
  uint32_t needs() const { return MORTISE_NEEDS_TEXT; }
  client::Control& control() { return control_; }

 private:
  client::Control control_;
};

constexpr mortise_frontend kTable = client::make_frontend<Frontend>();

constexpr mortise_part kPart = make_part<Frontend>("frontend", "tokenize", MORTISE_FRONTEND_ID,
                                                   "text to token ids and back, as JSON lines", &kTable);

}  // namespace
}  // namespace mortise::tokenize

MORTISE_PLUGIN("mortise.frontend.tokenize", "0.1.0", "Apache-2.0", MORTISE_FRONTEND_ID " " MORTISE_TEXT_ID,
               "frontend:tokenize", "", &mortise::tokenize::kPart);
