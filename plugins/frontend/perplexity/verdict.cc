// What is printed of a comparison, and whether it passes. Thread rule and flow: see compare.h.
#include <cmath>
#include <cstdio>

#include "compare.h"
#include "json/json.h"

namespace mortise::perplexity {
namespace {

void write_divergence(json::Writer* writer, const Figures& figures) {
  writer->key("increase").number(figures.increase()).key("kl_mean").number(figures.kl_mean());
  writer->key("kl_p99").number(figures.kl_p99()).key("top1_agreement").number(figures.top1_agreement());
}

std::string json_report(const Comparison& comparison) {
  const Figures all = comparison.all();
  std::string line;
  json::Writer writer(&line);
  writer.open('{').key("tokens").number(comparison.tokens).key("mean_nll").number(all.mean_nll());
  writer.key("perplexity").number(all.perplexity()).key("against").open('{').key("model");
  writer.string(comparison.against).key("mean_nll").number(all.mean_nll_against());
  writer.key("perplexity").number(all.perplexity_against()).close('}');
  write_divergence(&writer, all);
  writer.key("ranges").open('[');
  for (const Range& range : comparison.ranges) {
    writer.open('{').key("range").string(range.name).key("scored").number(range.figures.tokens);
    writer.key("perplexity").number(range.figures.perplexity());
    writer.key("against").number(range.figures.perplexity_against());
    write_divergence(&writer, range.figures);
    writer.close('}');
  }
  writer.close(']').close('}');
  return line + "\n";
}

std::string row_text(const char* name, const Figures& figures) {
  char line[256];
  std::snprintf(line, sizeof(line), "%-9s %10llu %12.4f %12.4f %+10.4f %+9.2f%% %10.6f %10.6f %9.2f%%\n",
                name, static_cast<unsigned long long>(figures.tokens), figures.perplexity(),
                figures.perplexity_against(), figures.increase(),
                100 * (figures.perplexity() / figures.perplexity_against() - 1), figures.kl_mean(),
                figures.kl_p99(), 100 * figures.top1_agreement());
  return line;
}

}  // namespace

std::string report(const Comparison& comparison, const Options& options) {
  if (options.json) return json_report(comparison);
  char head[256];
  std::snprintf(head, sizeof(head), "%-9s %10s %12s %12s %10s %10s %10s %10s %10s\n", "context", "scored",
                "perplexity", "against", "increase", "", "KL mean", "KL 99%", "same top");
  std::string out =
      "model    " + comparison.model + "\nagainst  " + comparison.against + "\n" + std::string(head);
  for (const Range& range : comparison.ranges) out += row_text(range.name, range.figures);
  if (comparison.ranges.size() > 1) out += row_text("all", comparison.all());
  return out;
}

Result<void> verdict(const Comparison& comparison, const Options& options) {
  std::string ranges;
  for (const Range& range : comparison.ranges) {
    const double increase = range.figures.increase();
    if (increase <= options.max_increase) continue;  // what is no number does not pass
    char text[128];
    std::snprintf(text, sizeof(text), "%s%s (%.4f against %.4f, %+.4f)", ranges.empty() ? "" : ", ",
                  range.name, range.figures.perplexity(), range.figures.perplexity_against(), increase);
    ranges += text;
  }
  if (ranges.empty()) return {};
  char allowed[32];
  std::snprintf(allowed, sizeof(allowed), "%g", options.max_increase);
  return fail(Code::limit, "plugin.perplexity.max_increase",
              "perplexity rises by more than " + std::string(allowed) + " in the range of context " + ranges +
                  "; switch to " + comparison.against + ", or to a scheme with more bits than " +
                  comparison.model + " has");
}

}  // namespace mortise::perplexity
