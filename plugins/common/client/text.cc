// Calls of the text service.
// Thread rule: any thread of a front end. Flow: see text.h.
#include "client/text.h"

namespace mortise::client {
namespace {

struct Stretches {
  std::string text;
  struct One {
    size_t size;
    bool trusted;
  };
  std::vector<One> list;
};

void collect(void* arg, mortise_str text, int32_t trusted) {
  auto* stretches = static_cast<Stretches*>(arg);
  stretches->text += view(text);
  stretches->list.push_back({text.size, trusted != 0});
}

}  // namespace

Result<void> Text::check() const {
  if (service_ == nullptr)
    return fail(Code::unsupported, "",
                "this pipeline has no tokenizer; send token ids, or name one under [use]");
  return {};
}

bool Text::has_template() const {
  return service_ != nullptr && service_->chat_template(service_->ctx).size != 0;
}

Result<std::vector<uint32_t>> Text::encode_spans(const std::vector<mortise_span>& spans,
                                                 bool add_special) const {
  size_t bytes = 0;
  for (const mortise_span& span : spans) bytes += span.size;
  std::vector<uint32_t> ids(bytes / 3 + 16);  // a guess; what does not fit is told and asked for again
  size_t count = 0;
  for (int attempt = 0; attempt < 2; ++attempt) {
    mortise_error error = c_error();
    const mortise_status status =
        service_->encode(service_->ctx, spans.data(), spans.size(), add_special ? 1 : 0, ids.data(),
                         ids.size(), &count, &error);
    if (status == MORTISE_LIMIT && count > ids.size()) {
      ids.resize(count);
      continue;
    }
    if (status != MORTISE_OK) return pass(from_c(status, error));
    ids.resize(count);
    return ids;
  }
  return fail(Code::internal, "", "the tokenizer told two different counts of tokens for one text");
}

Result<std::vector<uint32_t>> Text::encode(std::string_view text, bool parse_special,
                                           bool add_special) const {
  MORTISE_CHECK(check());
  return encode_spans({{text.data(), text.size(), parse_special ? 1u : 0u, 0}}, add_special);
}

bool Text::parses_special(std::optional<bool> asked, bool otherwise) const {
  if (asked) return *asked;
  if (service_->parse_special == MORTISE_PARSE_SPECIAL_UNSET) return otherwise;
  return service_->parse_special == MORTISE_PARSE_SPECIAL_ON;
}

Result<std::vector<uint32_t>> Text::encode_prompt(std::string_view text, std::optional<bool> asked) const {
  MORTISE_CHECK(check());
  return encode(text, parses_special(asked, true), true);
}

Result<std::vector<uint32_t>> Text::render(std::string_view request, std::optional<bool> asked) const {
  MORTISE_CHECK(check());
  Stretches stretches;
  mortise_error error = c_error();
  const mortise_status status = service_->render(service_->ctx, str(request), collect, &stretches, &error);
  if (status != MORTISE_OK) return pass(from_c(status, error));
  const bool trusts_messages = parses_special(asked, false);
  std::vector<mortise_span> spans;
  const char* at = stretches.text.data();
  for (const Stretches::One& one : stretches.list) {
    spans.push_back({at, one.size, one.trusted || trusts_messages ? 1u : 0u, 0});
    at += one.size;
  }
  return encode_spans(spans, false);
}

Result<std::string> Text::piece(uint32_t id, bool first, uint32_t* flags) const {
  MORTISE_CHECK(check());
  mortise_bytes bytes{};
  uint32_t own_flags = 0;
  if (flags == nullptr) flags = &own_flags;
  const mortise_status status = service_->piece(service_->ctx, id, first ? 1 : 0, &bytes, flags);
  if (status != MORTISE_OK || (*flags & MORTISE_PIECE_UNUSED) != 0)
    return fail(Code::bad_argument, "ids", "the vocabulary has no token " + std::to_string(id));
  return std::string(reinterpret_cast<const char*>(bytes.data), bytes.size);
}

}  // namespace mortise::client
