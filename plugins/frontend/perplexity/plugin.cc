// Front end "perplexity": the model's perplexity on a text file.
// Thread rule: run on the front end's thread; drain and stop on the main one. Flow: registration; the work is
// in perplexity.cc.
#include <mortise/cpp/part.h>
#include <mortise/frontend.h>
#include <unistd.h>

#include <filesystem>

#include "client/frontend.h"
#include "compare.h"
#include "perplexity.h"

namespace mortise::perplexity {
namespace {

#define PERPLEXITY_PARAMS(MORTISE_PARAM)                                                                \
  MORTISE_PARAM(path, text, nullptr, nullptr, config, "the file to score, UTF-8")                       \
  MORTISE_PARAM(int, window, "512", "[2,1048576]", config, "tokens that are scored together")           \
  MORTISE_PARAM(int, tokens, "0", "[0,)", config, "tokens of the text to use; 0: all")                  \
  MORTISE_PARAM(choice, output, "\"human\"", "human|json", config, "text for people, or a JSON object") \
  MORTISE_PARAM(path, against, nullptr, nullptr, config,                                                \
                "a second model, the reference, to compare with on the same tokens")                    \
  MORTISE_PARAM(float, max_increase, "0.15", "[0,)", config,                                            \
                "perplexity may be this much above the reference's in each range of context")

MORTISE_PARAMS(PerplexityParams, PERPLEXITY_PARAMS);

class Frontend {
 public:
  Frontend(Host host, const PerplexityParams& params)
      : host_(host),
        path_(params.text.value),
        options_{params.window, params.tokens, params.output.value == "json",
                 std::string(params.against.value), params.max_increase} {}

  Result<void> check() {
    if (path_.empty())
      return fail(Code::bad_argument, "plugin.perplexity.text",
                  "is not set; name a text file, e.g. --set plugin.perplexity.text=FILE");
    uint32_t file = 0;
    mortise_bytes bytes{};
    mortise_error error = c_error();
    const mortise_status mapped = host_.c()->map_file(host_.c()->ctx, str(path_), &file, &bytes, &error);
    if (mapped != MORTISE_OK) return pass(from_c(mapped, error));
    std::error_code status;
    if (!options_.against.empty() && !std::filesystem::exists(options_.against, status))
      return fail(Code::not_found, options_.against,
                  "no such file or folder; check plugin.perplexity.against");
    text_ = {reinterpret_cast<const char*>(bytes.data), bytes.size};
    return {};
  }

  Result<void> run(const mortise_services& services) {
    if (!options_.against.empty()) {
      MORTISE_TRY(comparison, compare(services, text_, options_, control_));
      MORTISE_CHECK(client::write_all(STDOUT_FILENO, report(comparison, options_)));
      return verdict(comparison, options_);
    }
    MORTISE_TRY(score, measure(services, text_, options_, control_));
    return client::write_all(STDOUT_FILENO, report(score, options_));
  }
  uint32_t needs() const { return MORTISE_NEEDS_ENGINE; }
  client::Control& control() { return control_; }

 private:
  const Host host_;
  const std::string path_;
  const Options options_;
  std::string_view text_;  // mapped
  client::Control control_;
};

constexpr mortise_frontend kTable = client::make_frontend<Frontend>();

constexpr mortise_part kPart = make_part<Frontend, PerplexityParams>(
    "frontend", "perplexity", MORTISE_FRONTEND_ID, "the model's perplexity on a text file", &kTable);

}  // namespace
}  // namespace mortise::perplexity

MORTISE_PLUGIN("mortise.frontend.perplexity", "0.1.0", "Apache-2.0",
               MORTISE_FRONTEND_ID " " MORTISE_ENGINE_ID " " MORTISE_TEXT_ID, "frontend:perplexity", "",
               &mortise::perplexity::kPart);
