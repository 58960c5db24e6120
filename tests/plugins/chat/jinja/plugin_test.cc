// The plugin through its C table: which models it takes, errors at render instead of load, spans and their
// trust.
// Thread rule: one thread. Flow: Catch2; plugin.cc is linked in, so no file is opened.
#include <mortise/chat.h>
#include <mortise/cpp/result.h>
#include <mortise/plugin.h>

#include <catch2/catch.hpp>
#include <deque>
#include <map>
#include <string>

extern "C" const mortise_plugin* mortise_plugin_v1(void);

namespace mortise {
namespace {

// A model that carries `text` as its template in GGUF's way, where it isn't empty, and further texts by key.
struct FakeModel {
  std::string text;
  std::map<std::string, std::string, std::less<>> metas{}, blobs{};
  std::deque<mortise_str> values{};

  mortise_model c() {
    if (!text.empty()) metas["tokenizer.chat_template"] = text;
    mortise_model model{};
    model.size = sizeof(model);
    model.ctx = this;
    model.dialect = "gguf";
    model.meta = [](void* ctx, mortise_str key, mortise_meta* out) -> mortise_status {
      auto* self = static_cast<FakeModel*>(ctx);
      const auto found = self->metas.find(view(key));
      if (found == self->metas.end()) return MORTISE_NOT_FOUND;
      *out = {MORTISE_STRING, 0, 1, &self->values.emplace_back(str(found->second))};
      return MORTISE_OK;
    };
    model.blob = [](void* ctx, mortise_str name, mortise_bytes* out) -> mortise_status {
      auto* self = static_cast<FakeModel*>(ctx);
      const auto found = self->blobs.find(view(name));
      if (found == self->blobs.end()) return MORTISE_NOT_FOUND;
      *out = {reinterpret_cast<const uint8_t*>(found->second.data()), found->second.size()};
      return MORTISE_OK;
    };
    return model;
  }
};

mortise_status map_one_file(void*, mortise_str path, uint32_t* file, mortise_bytes* out,
                            mortise_error* error) {
  static constexpr char kFile[] = "file:{{ messages[0].content }}";
  *file = 0;
  *out = {reinterpret_cast<const uint8_t*>(kFile), sizeof(kFile) - 1};
  if (view(path) == "named.jinja") return MORTISE_OK;
  return to_c(Error{Code::io, std::string(view(path)), "no such file"}, error);
}

struct Chat {
  const mortise_part* part = mortise_plugin_v1()->parts[0];
  const mortise_chat* table = static_cast<const mortise_chat*>(part->table);
  mortise_host host{};
  FakeModel fake;
  mortise_model model{};
  void* self = nullptr;
  void* chat = nullptr;
  mortise_error error = c_error();

  explicit Chat(std::string text, std::string_view file = {}) : fake{std::move(text)}, model(fake.c()) {
    host.map_file = map_one_file;
    mortise_value value{};
    value.type = MORTISE_PATH;
    value.is_set = file.empty() ? 0 : 1;
    value.s = str(file);
    REQUIRE(part->param_count == 1);
    if (part->create(&host, &value, &self, &error) != MORTISE_OK) self = nullptr;
  }
  ~Chat() {
    if (chat != nullptr) table->free_(self, chat);
    if (self != nullptr) part->destroy(self);
  }
  void load() { REQUIRE(table->load(self, &model, str("<s>"), str("</s>"), &chat, &error) == MORTISE_OK); }

  std::string render(std::string_view request) {
    std::string out;
    const auto emit = [](void* arg, mortise_str text, int32_t trusted) {
      const std::string s(view(text));
      *static_cast<std::string*>(arg) += trusted != 0 ? s : "«" + s + "»";
    };
    const mortise_status status = table->render(self, chat, str(request), emit, &out, &error);
    return status == MORTISE_OK ? out : "error: " + std::string(error.where) + ": " + error.message;
  }
};

constexpr std::string_view kRequest = R"({"messages": [{"role": "user", "content": "<|x|>"}]})";

TEST_CASE("chat jinja plugin: descriptor", "[jinja]") {
  const mortise_plugin* plugin = mortise_plugin_v1();
  REQUIRE(plugin->part_count == 1);
  CHECK(std::string(plugin->parts[0]->kind) == "chat");
  CHECK(std::string(plugin->parts[0]->name) == "jinja");
  CHECK(std::string(plugin->parts[0]->interface_id) == MORTISE_CHAT_ID);
}

TEST_CASE("chat jinja plugin: the model's own template renders to spans", "[jinja]") {
  Chat chat("{{ bos_token }}<|{{ messages[0].role }}|>{{ messages[0].content }}{{ eos_token }}");
  CHECK(chat.table->accepts(chat.self, &chat.model, &chat.error) == 100);
  chat.load();
  CHECK(chat.render(kRequest) == "<s><|user|>«<|x|>»</s>");
  CHECK(view(chat.table->source(chat.self, chat.chat)) == chat.fake.text);
}

TEST_CASE("chat jinja plugin: a model without template is refused, unless a file is named", "[jinja]") {
  Chat bare("");
  CHECK(bare.table->accepts(bare.self, &bare.model, &bare.error) == 0);
  CHECK(std::string(bare.error.message).find("template_file") != std::string::npos);
  Chat named("", "named.jinja");
  CHECK(named.table->accepts(named.self, &named.model, &named.error) == 100);
  named.load();
  CHECK(named.render(kRequest) == "file:«<|x|>»");
  Chat over("model's", "named.jinja");
  over.load();
  CHECK(over.render(kRequest) == "file:«<|x|>»");
  const Chat missing("", "absent.jinja");
  CHECK(missing.self == nullptr);
  CHECK(std::string(missing.error.where) == "absent.jinja");
}

TEST_CASE("chat jinja plugin: templates of hub folders", "[jinja]") {
  constexpr std::string_view kTools =
      R"({"messages": [], "tools": [{"type": "function", "function": {"name": "f"}}]})";
  const auto load = [](Chat& chat) {
    chat.model = chat.fake.c();
    CHECK(chat.table->accepts(chat.self, &chat.model, &chat.error) == 100);
    chat.load();
  };
  Chat file("");
  file.fake.blobs["chat_template.jinja"] = "file";
  file.fake.metas["tokenizer_config.chat_template"] = "text";
  load(file);
  CHECK(file.render(kRequest) == "file");
  Chat text("");
  text.fake.metas["tokenizer_config.chat_template"] = "text";
  load(text);
  CHECK(text.render(kTools) == "text");
  Chat list("");
  list.fake.metas["tokenizer_config.chat_template.0.name"] = "rag";
  list.fake.metas["tokenizer_config.chat_template.0.template"] = "rag";
  list.fake.metas["tokenizer_config.chat_template.1.name"] = "tool_use";
  list.fake.metas["tokenizer_config.chat_template.1.template"] = "tools";
  list.fake.metas["tokenizer_config.chat_template.2.name"] = "default";
  list.fake.metas["tokenizer_config.chat_template.2.template"] = "plain";
  load(list);
  CHECK(list.render(kRequest) == "plain");
  CHECK(list.render(kTools) == "tools");
  CHECK(list.render(R"({"messages": [], "tools": []})") == "plain");
  Chat gguf("plain");
  gguf.fake.metas["tokenizer.chat_template.tool_use"] = "tools";
  load(gguf);
  CHECK(gguf.render(kTools) == "tools");
}

TEST_CASE("chat jinja plugin: a template that does not parse loads, and fails at render", "[jinja]") {
  Chat chat("a\n{% if %}");
  CHECK(chat.table->accepts(chat.self, &chat.model, &chat.error) == 100);
  chat.load();
  CHECK(chat.render(kRequest) == "error: chat template line 2: expected an expression, got '%}'");
  CHECK(chat.render(kRequest) == "error: chat template line 2: expected an expression, got '%}'");
}

TEST_CASE("chat jinja plugin: generated text is content", "[jinja]") {
  Chat chat("x");
  chat.load();
  void* reader = nullptr;
  REQUIRE(chat.table->reader_new(chat.self, chat.chat, str(kRequest), &reader, &chat.error) == MORTISE_OK);
  std::string out;
  const auto read = [](void* arg, int32_t what, mortise_str text) {
    *static_cast<std::string*>(arg) += std::to_string(what) + std::string(view(text)) + ";";
  };
  chat.table->reader_feed(chat.self, reader, str("ab"), nullptr, 0, read, &out);
  chat.table->reader_feed(chat.self, reader, str(""), nullptr, 0, read, &out);
  chat.table->reader_feed(chat.self, reader, str("c"), nullptr, 0, read, &out);
  chat.table->reader_finish(chat.self, reader, read, &out);
  chat.table->reader_free(chat.self, reader);
  CHECK(out == "0ab;0c;");
}

}  // namespace
}  // namespace mortise
