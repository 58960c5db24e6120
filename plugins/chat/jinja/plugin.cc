// Registration of the chat plugin `jinja` and its calls at the C boundary.
// Thread rule: as chat.h says; a loaded chat is immutable. Flow: host's text service -> this file -> engine.
#include <mortise/chat.h>
#include <mortise/cpp/part.h>
#include <mortise/cpp/utf8.h>

#include <memory>
#include <optional>
#include <string>

#include "engine.h"
#include "messages.h"
#include "model_template.h"

namespace mortise::jinja {
namespace {

#define JINJA_PARAMS(MORTISE_PARAM)                            \
  MORTISE_PARAM(path, template_file, nullptr, nullptr, config, \
                "a chat template in Jinja, instead of the model's own")
MORTISE_PARAMS(Params, JINJA_PARAMS);

/// An instance: perhaps with a template of its own.
struct Plugin {
  std::string source;

  static Result<std::unique_ptr<Plugin>> make(Host host, const Params& params) {
    auto self = std::make_unique<Plugin>();
    const std::string_view path = params.template_file;
    if (path.empty()) return self;
    uint32_t file = 0;
    mortise_bytes bytes = {};
    mortise_error error = c_error();
    const mortise_status status = host.c()->map_file(host.c()->ctx, str(path), &file, &bytes, &error);
    if (status != MORTISE_OK) return pass(from_c(status, error));
    if (bytes.size > kMaxTemplateBytes) {
      return fail(Code::limit, std::string(path), "larger than a template may be; name a smaller file");
    }
    if (bytes.size == 0)
      return fail(Code::bad_argument, std::string(path), "empty; name a file with a template");
    self->source.assign(reinterpret_cast<const char*>(bytes.data), bytes.size);
    return self;
  }
};

using Parsed = Result<std::unique_ptr<Template>>;

/// A loaded chat. A template that does not parse is kept with its error, which every render reports.
struct Chat {
  std::string source, bos, eos;
  Parsed parsed;
  std::optional<Parsed> parsed_with_tools;
};

int32_t accepts(void* self, const mortise_model* model, mortise_error* error) noexcept {
  constexpr int32_t kSure = 100;
  const mortise_status status = guard(error, [&]() -> Result<void> {
    if (!static_cast<Plugin*>(self)->source.empty() || !model_templates(*model).plain.empty()) return {};
    return fail(Code::not_found, "chat template",
                "the model carries none; name one with template_file = \"FILE\" under [plugin.jinja]");
  });
  return status == MORTISE_OK ? kSure : 0;
}

mortise_status load(void* self, const mortise_model* model, mortise_str bos, mortise_str eos, void** chat,
                    mortise_error* error) noexcept {
  return guard(error, [&]() -> Result<void> {
    ModelTemplates found{static_cast<Plugin*>(self)->source, {}};
    if (found.plain.empty()) found = model_templates(*model);
    auto out = std::make_unique<Chat>(
        Chat{found.plain, replace_invalid(view(bos)), replace_invalid(view(eos)), compile(found.plain), {}});
    if (!found.with_tools.empty()) out->parsed_with_tools = compile(found.with_tools);
    *chat = out.release();
    return {};
  });
}

void free_chat(void*, void* chat) noexcept { delete static_cast<Chat*>(chat); }

mortise_str source(void*, void* chat) noexcept { return str(static_cast<Chat*>(chat)->source); }

// Stretches of user text and of the template's own text, in order.
void emit_spans(const Text& text, mortise_chat_emit* emit, void* arg) {
  const std::string_view bytes = text.bytes();
  size_t at = 0;
  const auto put = [&](size_t end, int32_t trusted) {
    if (end > at) emit(arg, str(bytes.substr(at, end - at)), trusted);
    at = end;
  };
  for (const Run& run : text.user_runs()) put(run.begin, 1), put(run.end, 0);
  put(bytes.size(), 1);
}

mortise_status render_request(void*, void* chat, mortise_str request, mortise_chat_emit* emit, void* arg,
                              mortise_error* error) noexcept {
  return guard(error, [&]() -> Result<void> {
    const Chat& self = *static_cast<Chat*>(chat);
    Heap inputs;
    Context context;
    MORTISE_CHECK(read_request(inputs, view(request), self.bos, self.eos, context));
    const bool has_tools = !context.at("tools").is(Kind::none);
    const Parsed& chosen = has_tools && self.parsed_with_tools ? *self.parsed_with_tools : self.parsed;
    if (!chosen) return pass(chosen.error());
    MORTISE_TRY(text, render(**chosen, std::move(context)));
    emit_spans(text, emit, arg);
    return {};
  });
}

// A reader keeps nothing: every text is content.
mortise_status reader_new(void*, void*, mortise_str, void** reader, mortise_error*) noexcept {
  *reader = nullptr;
  return MORTISE_OK;
}
void reader_feed(void*, void*, mortise_str text, const uint32_t*, size_t, mortise_chat_read* read,
                 void* arg) noexcept {
  if (text.size != 0) read(arg, MORTISE_CHAT_CONTENT, text);
}
void reader_finish(void*, void*, mortise_chat_read*, void*) noexcept {}
void reader_free(void*, void*) noexcept {}

constexpr mortise_chat kTable = {
    sizeof(mortise_chat), 0,          accepts,     load,          free_chat,  source,
    render_request,       reader_new, reader_feed, reader_finish, reader_free};

constexpr mortise_part kPart = make_part<Plugin, Params>(
    "chat", "jinja", MORTISE_CHAT_ID, "chat templates in Jinja: the model's own, or a file's", &kTable);

}  // namespace
}  // namespace mortise::jinja

MORTISE_PLUGIN("mortise.chat.jinja", "0.1.0", "Apache-2.0", MORTISE_CHAT_ID, "chat:jinja", "",
               &mortise::jinja::kPart);
