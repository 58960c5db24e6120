// Mode "text": one question from the command line or standard input, the answer to standard output.
// Thread rule: the front end's thread. Flow: the question goes through the chat template where there is one,
// else it is the beginning of the text to go on with.
#pragma once
#include "client/streams.h"
#include "screen.h"

#include <mortise/frontend.h>

namespace mortise::stdio {

struct TextOptions {
  std::string system;  ///< the system message; empty: none
  bool stats = false;  ///< figures after the answer
};

Result<void> run_text(const mortise_services& services, const TextOptions& options, client::Control& control,
                      int in, Screen& screen);

}  // namespace mortise::stdio
