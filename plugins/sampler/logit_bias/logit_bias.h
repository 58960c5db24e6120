// Logit bias: a map from token ids to what is added to their logits; -100 bans (the OpenAI API's rule).
// Thread rule: pure. Flow: a link of the sampler chain, before those that select.
#pragma once
#include <mortise/cpp/sampler.h>

#include <charconv>
#include <string>

#define LOGIT_BIAS_PARAMS(MORTISE_PARAM)                 \
  MORTISE_PARAM(map, logit_bias, "{}", nullptr, request, \
                "token id -> -100 to 100, added to its logit; -100 bans the token")
MORTISE_PARAMS(LogitBiasParams, LOGIT_BIAS_PARAMS);

struct LogitBias {
  using Params = LogitBiasParams;

  static constexpr double kBan = -100;
  static constexpr double kMost = 100;

  static bool is_identity(const Params& p) { return p.logit_bias.value.count == 0; }

  static void apply(mortise::Candidates& c, const Params& p) {
    const mortise::param::Items& map = p.logit_bias.value;
    std::vector<float> bias(c.size());
    for (size_t k = 0; k < map.count; ++k) {
      const uint32_t at = c.find(token(mortise::view(map.keys[k]), c.vocab()));
      if (at == c.size()) continue;
      const double b = number(map.items[k]);
      bias[at] = b <= kBan ? -std::numeric_limits<float>::infinity() : static_cast<float>(b);
    }
    c.update([&](uint32_t i, float x) { return x + bias[i]; });
  }

  static mortise::Result<void> check(const Params& p, uint32_t vocab) {
    const mortise::param::Items& map = p.logit_bias.value;
    for (size_t k = 0; k < map.count; ++k) {
      const std::string key(mortise::view(map.keys[k]));
      if (token(key, vocab) == vocab)
        return wrong("'" + key + "' is no token id; give ids from 0 to " + std::to_string(vocab - 1));
      const double b = number(map.items[k]);
      if (!(b >= kBan && b <= kMost))
        return wrong("the bias of token " + key + " must be a number from -100 to 100");
    }
    return {};
  }

 private:
  static mortise::Result<void> wrong(std::string message) {
    return mortise::fail(mortise::Code::bad_argument, "logit_bias", std::move(message));
  }

  // `vocab` where the text is no id below it.
  static uint32_t token(std::string_view text, uint32_t vocab) {
    uint32_t id = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
    return error == std::errc{} && end == text.data() + text.size() && id < vocab ? id : vocab;
  }

  // NaN where the value is no number.
  static double number(const mortise_value& v) {
    if (v.type == MORTISE_INT) return static_cast<double>(v.i);
    return v.type == MORTISE_FLOAT ? v.f : std::numeric_limits<double>::quiet_NaN();
  }
};
