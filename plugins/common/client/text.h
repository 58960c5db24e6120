// The text service with C++ types.
// Thread rule: any thread of a front end. Flow: a request's text or messages become token ids here.
#pragma once
#include <mortise/cpp/result.h>
#include <mortise/engine.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mortise::client {

class Text {
 public:
  /// `service` may be null (tokenizer = "none"): every call is then an error that says so.
  explicit Text(const mortise_text* service) : service_(service) {}

  bool available() const { return service_ != nullptr; }
  /// True where the model, or the pipeline, brings a chat template.
  bool has_template() const;
  /// One text to ids. `add_special`: BOS and EOS as the model's metadata asks.
  Result<std::vector<uint32_t>> encode(std::string_view text, bool parse_special, bool add_special) const;
  /// A request's prompt, with BOS and EOS as the model's metadata asks. `asked`: the request's parse_special;
  /// where neither it nor [defaults] says anything, special tokens are recognised.
  Result<std::vector<uint32_t>> encode_prompt(std::string_view text,
                                              std::optional<bool> asked = std::nullopt) const;
  /// The prompt of a chat as ids; `request` as in mortise/chat.h. Special tokens come from the template
  /// alone, unless `asked` (the request's parse_special) or [defaults] wants those in the messages too. A
  /// template writes its own BOS, so none is added.
  Result<std::vector<uint32_t>> render(std::string_view request,
                                       std::optional<bool> asked = std::nullopt) const;
  /// The bytes of one token; an id without a token is an error.
  Result<std::string> piece(uint32_t id, bool first, uint32_t* flags = nullptr) const;

 private:
  Result<void> check() const;
  bool parses_special(std::optional<bool> asked, bool otherwise) const;
  Result<std::vector<uint32_t>> encode_spans(const std::vector<mortise_span>& spans, bool add_special) const;

  const mortise_text* service_;
};

}  // namespace mortise::client
