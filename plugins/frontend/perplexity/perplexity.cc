// Scoring windows of a text.
// Thread rule: see perplexity.h. Flow: see perplexity.h.
#include "perplexity.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <vector>

#include "client/engine.h"
#include "client/progress.h"
#include "client/text.h"
#include "json/json.h"

namespace mortise::perplexity {
namespace {

// Two windows at once keep the engine busy while this thread adds up.
constexpr size_t kAtOnce = 2;
constexpr const char* kParameters = "{\"echo\":true,\"max_tokens\":0,\"top_logprobs\":0}";

struct Window {
  uint64_t tokens = 0;
  uint64_t seen = 0;
  double nll_sum = 0;  // kept apart, so that the sum does not depend on which window ends first
};

class Scorer {
 public:
  Scorer(client::Channel& channel, const client::Control& control) : channel_(channel), control_(control) {}

  Result<Score> run(const std::vector<uint32_t>& ids, size_t window) {
    client::Progress progress("scoring", ids.size(), stderr);
    size_t at = 0;
    while (at < ids.size() || !open_.empty()) {
      const size_t size = std::min(window, ids.size() - at);
      if (open_.size() < kAtOnce && at < ids.size()) {
        if (size >= 2) MORTISE_CHECK(submit({ids.begin() + at, ids.begin() + at + size}));
        at += size;
        continue;
      }
      MORTISE_CHECK(take_event());
      progress.update(at);
    }
    Score score;
    for (const Window& one : windows_) {
      score.tokens += one.tokens;
      score.scored += one.tokens - 1;
      score.nll_sum += one.nll_sum;
    }
    return score;
  }

 private:
  Result<void> submit(const std::vector<uint32_t>& prompt) {
    MORTISE_TRY(id, channel_.submit(prompt, kParameters, MORTISE_REQUEST_NO_CACHE | MORTISE_REQUEST_WAIT));
    open_[id] = windows_.size();
    windows_.push_back({prompt.size()});
    return {};
  }

  Result<void> take_event() {
    constexpr int kLookMs = 100;  // how soon a stop is noticed
    const mortise_event* event = channel_.next(kLookMs);
    if (control_.draining() || channel_.closed())
      return fail(Code::cancelled, "", "the measurement was interrupted");
    if (event == nullptr) return {};
    const auto found = open_.find(event->request);
    if (found == open_.end()) return {};
    Window& window = windows_[found->second];
    for (uint64_t i = 0; i < event->token_count && event->logprobs != nullptr; ++i, ++window.seen)
      if (window.seen > 0) window.nll_sum -= static_cast<double>(event->logprobs[i].logprob);
    if (event->type == MORTISE_EVENT_DELTA) return {};
    if (event->type == MORTISE_EVENT_ERROR || event->finish == MORTISE_FINISH_CANCELLED)
      return pass(client::event_error(*event));
    if (window.seen != window.tokens)
      return fail(Code::internal, "",
                  "the engine scored " + std::to_string(window.seen) + " of " +
                      std::to_string(window.tokens) + " tokens of a window");
    open_.erase(found);
    return {};
  }

  client::Channel& channel_;
  const client::Control& control_;
  std::map<uint64_t, size_t> open_;  // request -> window
  std::vector<Window> windows_;
};

}  // namespace

Result<void> check_window(const mortise_services& services, const Options& options) {
  mortise_engine_info info{};
  info.size = sizeof(info);
  services.engine->info(services.engine->ctx, &info);
  if (options.window <= info.context) return {};
  return fail(Code::bad_argument, "plugin.perplexity.window",
              std::to_string(options.window) + " is over the context of " + std::to_string(info.context) +
                  " of " + std::string(view(info.model)) + "; lower it, or raise model.context");
}

Result<std::vector<uint32_t>> tokens_of(const mortise_services& services, std::string_view text,
                                        const Options& options) {
  MORTISE_TRY(ids, client::Text(services.text).encode(text, false, false));
  if (options.tokens > 0 && static_cast<uint64_t>(options.tokens) < ids.size())
    ids.resize(static_cast<size_t>(options.tokens));
  if (ids.size() < 2)
    return fail(Code::bad_argument, "plugin.perplexity.text",
                "has fewer than two tokens; name a longer text");
  MORTISE_CHECK(check_window(services, options));
  return std::move(ids);
}

Result<Score> measure(const mortise_services& services, std::string_view text, const Options& options,
                      const client::Control& control) {
  MORTISE_TRY(ids, tokens_of(services, text, options));
  MORTISE_TRY(channel, client::Channel::open(services.engine));
  return Scorer(*channel, control).run(ids, static_cast<size_t>(options.window));
}

std::string report(const Score& score, const Options& options) {
  const double mean = score.nll_sum / static_cast<double>(score.scored);
  if (options.json) {
    std::string line;
    json::Writer writer(&line);
    writer.open('{').key("tokens").number(score.tokens).key("mean_nll").number(mean);
    writer.key("perplexity").number(std::exp(mean)).close('}');
    return line + "\n";
  }
  char line[256];
  std::snprintf(line, sizeof(line),
                "perplexity %.4f (mean NLL %.5f nats) over %llu tokens in windows of %lld\n", std::exp(mean),
                mean, static_cast<unsigned long long>(score.tokens), static_cast<long long>(options.window));
  return line;
}

}  // namespace mortise::perplexity
