// JSON text -> values: messages, tools and template variables.
// Thread rule: one render. Flow: engine.cc and messages.cc read the input through it.
#pragma once
#include <string_view>

#include "value.h"

namespace mortise::jinja {

/// Strings (keys too) become user text where `user` says so. Order of keys is kept, of equal keys the last
/// value at the first place. Errors name `what` and the byte offset; depth is bounded by kMaxInputDepth, size
/// by kMaxInputBytes.
Result<Value> read_json(Heap& heap, std::string_view json, bool user, const char* what);

}  // namespace mortise::jinja
