// Mode "chat": a conversation with a person.
// Thread rule: the front end's thread. Flow: a line is a command, or a question that is answered at once.
#pragma once
#include <mortise/frontend.h>

#include <string>

#include "client/streams.h"
#include "editor.h"
#include "screen.h"

namespace mortise::stdio {

struct ChatOptions {
  std::string system;  ///< the first system message; empty: none
  bool stats = false;  ///< figures after every answer
};

Result<void> run_chat(const mortise_services& services, const ChatOptions& options, client::Control& control,
                      Editor& editor, Screen& screen);

}  // namespace mortise::stdio
