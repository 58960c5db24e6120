// A text service whose tokens are bytes: id = byte, 256 "<bos>", 257 "<turn>", 258 and above none.
// Thread rule: any thread. Flow: stands beside fake_engine.h. The template writes "<turn>ROLE:CONTENT" for
// every message and "<turn>" for the answer.
#pragma once
#include <mortise/cpp/result.h>
#include <mortise/engine.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace fake {

class Text {
 public:
  bool has_template = true;
  bool add_bos = false;
  size_t renders = 0;

  Text() {
    table_ = {sizeof(mortise_text), 0,      this,       vocabulary,  encode,        piece,
              chat_template,        render, reader_new, reader_feed, reader_finish, reader_free};
  }
  const mortise_text* get() const { return &table_; }

 private:
  static Text& self(void* ctx) { return *static_cast<Text*>(ctx); }
  static void vocabulary(void* ctx, mortise_vocabulary* out) {
    out->count = 258;
    out->bos = 256;
    out->eos = 257;
    out->add_bos = self(ctx).add_bos;
    out->add_eos = 0;
  }
  static mortise_status encode(void* ctx, const mortise_span* spans, size_t span_count, int32_t add_special,
                               uint32_t* ids, size_t capacity, size_t* count, mortise_error* error) {
    std::vector<uint32_t> out;
    if (add_special != 0 && self(ctx).add_bos) out.push_back(256);
    for (size_t s = 0; s < span_count; ++s) {
      const std::string_view text(spans[s].data, spans[s].size);
      for (size_t i = 0; i < text.size();) {
        const bool bos = text.substr(i, 5) == "<bos>", turn = text.substr(i, 6) == "<turn>";
        if (spans[s].parse_special != 0 && (bos || turn)) {
          out.push_back(bos ? 256 : 257);
          i += bos ? 5 : 6;
        } else {
          out.push_back(static_cast<uint8_t>(text[i++]));
        }
      }
    }
    *count = out.size();
    if (out.size() > capacity) return mortise::to_c({mortise::Code::limit, "", "no room"}, error);
    std::copy(out.begin(), out.end(), ids);
    return MORTISE_OK;
  }
  static mortise_status piece(void*, uint32_t id, int32_t, mortise_bytes* bytes, uint32_t* flags) {
    static const std::string all = [] {
      std::string text;
      for (int i = 0; i < 256; ++i) text += static_cast<char>(i);
      return text;
    }();
    *flags = id >= 256 ? MORTISE_PIECE_CONTROL : 0;
    if (id > 257) return MORTISE_BAD_ARGUMENT;
    const std::string_view text = id == 256   ? std::string_view("<bos>")
                                  : id == 257 ? std::string_view("<turn>")
                                              : std::string_view(all).substr(id, 1);
    *bytes = {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
    return MORTISE_OK;
  }
  static mortise_str chat_template(void* ctx) {
    return mortise::str(self(ctx).has_template ? "fake template" : "");
  }
  static mortise_status render(void* ctx, mortise_str request, mortise_chat_emit* emit, void* arg,
                               mortise_error* error) {
    ++self(ctx).renders;
    if (!self(ctx).has_template)
      return mortise::to_c({mortise::Code::unsupported, "", "the model has no template; name one"}, error);
    const auto object = nlohmann::json::parse(mortise::view(request));
    for (const auto& message : object["messages"]) {
      const std::string head = "<turn>" + message["role"].get<std::string>() + ":";
      const std::string content = message.value("content", "");
      emit(arg, mortise::str(head), 1);
      emit(arg, mortise::str(content), 0);
    }
    emit(arg, mortise::str("<turn>"), 1);
    return MORTISE_OK;
  }

  // A reader that holds text back until its end where that begins with '~', which marks reasoning.
  struct Reader {
    std::string held;
  };
  static mortise_status reader_new(void*, mortise_str, void** reader, mortise_error*) {
    *reader = new Reader();
    return MORTISE_OK;
  }
  static void reader_feed(void*, void* reader, mortise_str text, const uint32_t*, size_t,
                          mortise_chat_read* read, void* arg) {
    auto& held = static_cast<Reader*>(reader)->held;
    if (text.size != 0 && text.data[0] == '~')
      held += mortise::view(text).substr(1);
    else if (text.size != 0)
      read(arg, MORTISE_CHAT_CONTENT, text);
  }
  static void reader_finish(void*, void* reader, mortise_chat_read* read, void* arg) {
    auto& held = static_cast<Reader*>(reader)->held;
    if (!held.empty()) read(arg, MORTISE_CHAT_REASONING, mortise::str(held));
  }
  static void reader_free(void*, void* reader) { delete static_cast<Reader*>(reader); }

  mortise_text table_{};
};

}  // namespace fake
