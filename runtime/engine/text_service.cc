// TextService: forwarding, and one clear error where the pipeline has no template.
// Thread rule and flow: see text_service.h.
#include "engine/text_service.h"

namespace mortise {

/// The C functions; `ctx` is the service.
struct TextService::Calls {
  static const TextService& self(void* ctx) { return *static_cast<TextService*>(ctx); }

  static mortise_status no_chat(const TextService& s, mortise_error* error) {
    return to_c(Error{Code::unsupported, "messages", s.no_chat_}, error);
  }

  static void vocabulary(void* ctx, mortise_vocabulary* out) { *out = self(ctx).vocabulary(); }
  static mortise_status encode(void* ctx, const mortise_span* spans, size_t span_count, int32_t add_special,
                               uint32_t* ids, size_t capacity, size_t* count, mortise_error* error) {
    const TextService& s = self(ctx);
    const mortise_status status = s.tokenizer_.encode(s.tokenizer_provider_.self, s.tokens_, spans,
                                                      span_count, add_special, ids, capacity, count, error);
    // Front ends take memory for what they are told, and read as many ids as they are told.
    if (status == MORTISE_OK ? *count > capacity : status == MORTISE_LIMIT && *count > kEncodedTokensMax)
      return to_c(Error{Code::internal, "tokenizer '" + s.tokenizer_provider_.name + "'",
                        "tells a count of tokens that cannot be"},
                  error);
    return status;
  }
  static mortise_status piece(void* ctx, uint32_t id, int32_t first, mortise_bytes* bytes, uint32_t* flags) {
    const TextService& s = self(ctx);
    return s.tokenizer_.piece(s.tokenizer_provider_.self, s.tokens_, id, first, bytes, flags);
  }
  static mortise_str chat_template(void* ctx) {
    const TextService& s = self(ctx);
    return s.chat_ == nullptr ? mortise_str{} : s.chat_->source(s.chat_provider_->self, s.loaded_chat_);
  }
  static mortise_status render(void* ctx, mortise_str request, mortise_chat_emit* emit, void* arg,
                               mortise_error* error) {
    const TextService& s = self(ctx);
    if (s.chat_ == nullptr) return no_chat(s, error);
    return s.chat_->render(s.chat_provider_->self, s.loaded_chat_, request, emit, arg, error);
  }
  static mortise_status reader_new(void* ctx, mortise_str request, void** reader, mortise_error* error) {
    const TextService& s = self(ctx);
    if (s.chat_ == nullptr) return no_chat(s, error);
    return s.chat_->reader_new(s.chat_provider_->self, s.loaded_chat_, request, reader, error);
  }
  static void reader_feed(void* ctx, void* reader, mortise_str text, const uint32_t* ids, size_t id_count,
                          mortise_chat_read* read, void* arg) {
    const TextService& s = self(ctx);
    s.chat_->reader_feed(s.chat_provider_->self, reader, text, ids, id_count, read, arg);
  }
  static void reader_finish(void* ctx, void* reader, mortise_chat_read* read, void* arg) {
    const TextService& s = self(ctx);
    s.chat_->reader_finish(s.chat_provider_->self, reader, read, arg);
  }
  static void reader_free(void* ctx, void* reader) {
    const TextService& s = self(ctx);
    s.chat_->reader_free(s.chat_provider_->self, reader);
  }
};

TextService::TextService(const Provider& tokenizer, const Provider* chat, std::string no_chat)
    : tokenizer_provider_(tokenizer),
      tokenizer_(tokenizer.table<mortise_tokenizer>()),
      chat_provider_(chat),
      no_chat_(std::move(no_chat)) {
  table_ = {sizeof(mortise_text),
            MORTISE_PARSE_SPECIAL_UNSET,
            this,
            &Calls::vocabulary,
            &Calls::encode,
            &Calls::piece,
            &Calls::chat_template,
            &Calls::render,
            &Calls::reader_new,
            &Calls::reader_feed,
            &Calls::reader_finish,
            &Calls::reader_free};
}

Result<std::unique_ptr<TextService>> TextService::make(const Provider& tokenizer, const Provider* chat,
                                                       std::string no_chat, const OpenModel& model) {
  std::unique_ptr<TextService> out(new TextService(tokenizer, chat, std::move(no_chat)));
  mortise_error error = c_error();
  mortise_status status = out->tokenizer_.load(tokenizer.self, &model.c(), &out->tokens_, &error);
  if (status != MORTISE_OK) return pass(tokenizer.error("tokenizer", status, error));
  if (chat == nullptr) return out;
  const mortise_vocabulary vocabulary = out->vocabulary();
  const std::string bos = out->token_text(vocabulary.bos), eos = out->token_text(vocabulary.eos);
  const auto& calls = chat->table<mortise_chat>();
  status = calls.load(chat->self, &model.c(), str(bos), str(eos), &out->loaded_chat_, &error);
  if (status != MORTISE_OK) return pass(chat->error("chat", status, error));
  out->chat_ = &calls;
  return out;
}

TextService::~TextService() {
  if (loaded_chat_ != nullptr) chat_->free_(chat_provider_->self, loaded_chat_);
  if (tokens_ != nullptr) tokenizer_.free_(tokenizer_provider_.self, tokens_);
}

mortise_vocabulary TextService::vocabulary() const {
  mortise_vocabulary out{sizeof(mortise_vocabulary), 0, -1, -1, 0, 0};
  tokenizer_.vocabulary(tokenizer_provider_.self, tokens_, &out);
  return out;
}

std::string TextService::token_text(int32_t id) const {
  if (id < 0) return "";
  const Piece piece = piece_of()(static_cast<uint32_t>(id), false);
  return std::string(piece.bytes);
}

PieceOf TextService::piece_of() const {
  return [this](uint32_t id, bool first) {
    mortise_bytes bytes{};
    Piece out;
    // An id without a token stands for no bytes: models have more rows than their tokenizers have tokens.
    if (tokenizer_.piece(tokenizer_provider_.self, tokens_, id, first, &bytes, &out.flags) != MORTISE_OK)
      return Piece{};
    out.bytes = {reinterpret_cast<const char*>(bytes.data), bytes.size};
    return out;
  };
}

}  // namespace mortise
