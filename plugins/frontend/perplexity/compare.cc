// Two engines in step. Thread rule and flow: see compare.h.
#include "compare.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>

#include "client/progress.h"
#include "client/score.h"
#include "client/text.h"

namespace mortise::perplexity {
namespace {

constexpr const char* kAgainst = "plugin.perplexity.against";
constexpr struct {
  uint64_t end;
  const char* name;
} kRanges[] = {
    {512, "to 512"}, {2048, "to 2k"}, {8192, "to 8k"}, {32768, "to 32k"}, {UINT64_MAX, "over 32k"}};

/// The second model, closed with this.
class Opened {
 public:
  static Result<std::unique_ptr<Opened>> open(const mortise_services& first, std::string_view path) {
    std::unique_ptr<Opened> out(new Opened(first));
    mortise_error error = c_error();
    const mortise_status status = first.open(first.ctx, str(path), &out->second_, &error);
    if (status != MORTISE_OK) return pass(from_c(status, error));
    return out;
  }
  ~Opened() {
    if (second_ != nullptr) first_.close(first_.ctx, second_);
  }
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;
  const mortise_services& services() const { return *second_; }

 private:
  explicit Opened(const mortise_services& first) : first_(first) {}
  const mortise_services& first_;
  const mortise_services* second_ = nullptr;
};

mortise_engine_info info_of(const mortise_services& services) {
  mortise_engine_info out{};
  out.size = sizeof(out);
  services.engine->info(services.engine->ctx, &out);
  return out;
}

/// The text must be the same tokens to both, or their distributions are not of the same thing.
Result<void> check_tokens(const client::Text& first, const client::Text& second, std::string_view text,
                          const std::vector<uint32_t>& ids, std::string_view path) {
  MORTISE_TRY(other, second.encode(text, false, false));
  const auto differs = [&](size_t at) {
    return fail(Code::bad_argument, kAgainst,
                std::string(path) + " has another tokenizer: its tokens of the text differ from token " +
                    std::to_string(at) + " on; only models of one vocabulary can be compared");
  };
  const size_t count = std::min(ids.size(), other.size());
  for (size_t at = 0; at < count; ++at) {
    if (ids[at] != other[at]) return differs(at);
    const auto piece = first.piece(ids[at], false), other_piece = second.piece(ids[at], false);
    if (!piece || !other_piece || *piece != *other_piece) return differs(at);
  }
  return other.size() < ids.size() ? differs(count) : Result<void>();
}

/// One window through both engines; `done` is called after each position.
template <class Done>
Result<void> compare_window(const mortise_services& services, const mortise_services& against,
                            const std::vector<uint32_t>& tokens, uint32_t vocab,
                            const client::Control& control, std::vector<Range>* ranges, Done&& done) {
  MORTISE_TRY(score, client::Score::begin(services.engine, tokens));
  MORTISE_TRY(score_against, client::Score::begin(against.engine, tokens));
  size_t range = 0;
  for (uint64_t position = 1; position < tokens.size(); ++position) {
    MORTISE_TRY(row, score->next(control));
    MORTISE_TRY(row_against, score_against->next(control));
    while (position >= (*ranges)[range].end) ++range;
    (*ranges)[range].figures.add(compare_rows(row, row_against, vocab, tokens[position]));
    done(position);
  }
  return {};
}

}  // namespace

Figures Comparison::all() const {
  Figures out;
  for (const Range& range : ranges) out.merge(range.figures);
  return out;
}

Result<Comparison> compare(const mortise_services& services, std::string_view text, const Options& options,
                           const client::Control& control) {
  MORTISE_TRY(ids, tokens_of(services, text, options));
  MORTISE_TRY(opened, Opened::open(services, options.against));
  const mortise_services& against = opened->services();
  const mortise_engine_info first = info_of(services), second = info_of(against);
  if (first.vocab != second.vocab)
    return fail(Code::bad_argument, kAgainst,
                options.against + " has a vocabulary of " + std::to_string(second.vocab) + " tokens, " +
                    std::string(view(first.model_path)) + " one of " + std::to_string(first.vocab) +
                    "; only models of one vocabulary can be compared");
  MORTISE_CHECK(
      check_tokens(client::Text(services.text), client::Text(against.text), text, ids, options.against));
  MORTISE_CHECK(check_window(against, options));

  Comparison out{std::string(view(first.model_path)), options.against, 0, {}};
  for (const auto& range : kRanges) out.ranges.push_back({range.end, range.name, {}});
  client::Progress progress("comparing", ids.size(), stderr);
  const auto window = static_cast<size_t>(options.window);
  for (size_t at = 0; at + 2 <= ids.size(); at += window) {
    const size_t end = std::min(at + window, ids.size());
    if (end - at < 2) break;
    const std::vector<uint32_t> tokens(ids.begin() + static_cast<ptrdiff_t>(at),
                                       ids.begin() + static_cast<ptrdiff_t>(end));
    MORTISE_CHECK(compare_window(services, against, tokens, first.vocab, control, &out.ranges,
                                 [&](uint64_t position) { progress.update(at + position); }));
    out.tokens += tokens.size();
  }
  std::erase_if(out.ranges, [](const Range& range) { return range.figures.tokens == 0; });
  return out;
}

}  // namespace mortise::perplexity
