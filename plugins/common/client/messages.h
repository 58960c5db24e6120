// Chat messages as front ends receive them, checked and brought to one form.
// Thread rule: pure. Flow: before the chat template sees them.
#pragma once
#include <optional>

#include "json/json.h"

namespace mortise::client {

constexpr size_t kMessagesMax = 10'000;

/// Checks a request's "messages" and simplifies them in place: role `developer` becomes `system`, and a
/// content of text parts becomes their plain concatenation. Roles: system, user, assistant, tool. Errors name
/// the spot, e.g. messages[0].role.
Result<void> normalise_messages(json::Value* messages);

/// The request's parse_special where it is there and a boolean; the engine refuses other values.
std::optional<bool> asked_parse_special(const json::Value& request);

}  // namespace mortise::client
