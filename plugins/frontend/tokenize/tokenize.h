// Text to token ids and back, a JSON line each.
// Thread rule: the front end's thread. Flow: a line in, a line out, in order, until the input is over.
#pragma once
#include <mortise/frontend.h>

#include <string>

#include "client/streams.h"
#include "client/text.h"

namespace mortise::tokenize {

/// The answer to one line, without its end: {"ids":…,"tokens":…,"decoded":…}, or
/// {"error":{"code","message","param"}}.
std::string answer(const client::Text& text, const std::string& line);

Result<void> run(const mortise_services& services, const client::Control& control, int in, int out);

}  // namespace mortise::tokenize
