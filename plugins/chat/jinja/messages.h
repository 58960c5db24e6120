// A chat request in JSON -> the variables that chat templates expect.
// Thread rule: pure. Flow: plugin.cc reads each request through it before it renders.
#pragma once
#include <string_view>

#include "interp.h"

namespace mortise::jinja {

/// Fills `context` from `request`, a JSON object with "messages" and perhaps "tools", "add_generation_prompt"
/// (default true) and further variables. Everything of it is user text, except roles that every template
/// knows. Normalised:
///  - content that is null or absent becomes ""; a list of text parts becomes their texts joined; other parts
///  are refused
///  - arguments of tool calls that are JSON text become the value they stand for
///  - other null fields of a message are dropped; empty tools become none
/// `bos` and `eos` are trusted. `heap` owns the values.
Result<void> read_request(Heap& heap, std::string_view request, std::string_view bos, std::string_view eos,
                          Context& context);

}  // namespace mortise::jinja
