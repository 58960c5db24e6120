// The text service: tokenizer and chat of a pipeline behind the C table that front ends call.
// Thread rule: made on the loading thread; the calls from any thread, as tokenizer.h and chat.h say. Flow:
// front end -> here -> tokenizer and chat plugins; the engine asks it for the bytes of drawn tokens.
#pragma once
#include <mortise/cpp/result.h>
#include <mortise/engine.h>

#include <memory>
#include <string>

#include "engine/sequence.h"
#include "model/open_model.h"
#include "model/provider.h"

namespace mortise {

constexpr size_t kEncodedTokensMax = 1 << 26;  // of one text; a context holds fewer

class TextService {
 public:
  /// `chat` may be null: the model then has no template, and `no_chat` says why.
  static Result<std::unique_ptr<TextService>> make(const Provider& tokenizer, const Provider* chat,
                                                   std::string no_chat, const OpenModel& model);
  ~TextService();
  TextService(const TextService&) = delete;
  TextService& operator=(const TextService&) = delete;

  const mortise_text& c() const { return table_; }
  /// Before front ends run: what they are told of the pipeline's default.
  void set_parse_special(uint32_t value) { table_.parse_special = value; }
  mortise_vocabulary vocabulary() const;
  PieceOf piece_of() const;

 private:
  struct Calls;
  TextService(const Provider& tokenizer, const Provider* chat, std::string no_chat);
  std::string token_text(int32_t id) const;

  const Provider& tokenizer_provider_;
  const mortise_tokenizer& tokenizer_;
  const Provider* chat_provider_;
  const mortise_chat* chat_ = nullptr;
  std::string no_chat_;
  void* tokens_ = nullptr;  // the loaded tokenizer
  void* loaded_chat_ = nullptr;
  mortise_text table_{};
};

}  // namespace mortise
