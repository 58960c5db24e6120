// libFuzzer target of the chat plugin jinja: the input is a template, rendered over a fixed request.
// Thread rule: one thread. Flow: outside bytes -> compile -> render; only errors may come of it.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "engine.h"
#include "messages.h"

namespace {
constexpr std::string_view kRequest = R"({"messages": [
  {"role": "system", "content": "Be brief."},
  {"role": "user", "content": "  größer <|x|>\n\n2 < 3 "},
  {"role": "assistant", "content": null, "tool_calls": [
    {"id": "c1", "type": "function",
     "function": {"name": "f", "arguments": "{\"a\": [1, 2.5, null, true]}"}}]},
  {"role": "tool", "tool_call_id": "c1", "content": "{\"r\": 1e16}"}],
  "tools": [{"type": "function",
             "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}],
  "n": 7, "f": -0.5, "s": "a,b c", "l": [3, 1, 2], "d": {"b": 1, "a": "x"}})";
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto parsed = mortise::jinja::compile({reinterpret_cast<const char*>(data), size});
  if (!parsed) return 0;
  mortise::jinja::Heap heap;
  mortise::jinja::Context context;
  if (!mortise::jinja::read_request(heap, kRequest, "<s>", "</s>", context)) std::abort();
  const auto text = mortise::jinja::render(**parsed, std::move(context));
  // Runs of user text must lie in the text, in order.
  if (text) {
    size_t at = 0;
    for (const auto& run : text->user_runs()) {
      if (run.begin < at || run.end <= run.begin || run.end > text->size()) std::abort();
      at = run.end;
    }
  }
  return 0;
}
