// The installed configs: each parses with any model, names front end and samplers only.
// Thread rule: one thread. Flow: load_pipeline over configs/ of the source tree.
#include <catch2/catch.hpp>

#include "parse.h"

using namespace mortise;

namespace {

const std::filesystem::path kConfigs = std::filesystem::path(MORTISE_TEST_SOURCE) / "configs";

Result<Pipeline> load(const std::string& name, std::optional<std::string> model) {
  PipelineOptions options;
  options.pipeline = name;
  options.model = std::move(model);
  options.config_folders = {kConfigs};
  return load_pipeline(options);
}

}  // namespace

TEST_CASE("configs: each takes any model by -m and leaves the choice of parts to probing") {
  const std::pair<const char*, const char*> rows[] = {
      {"quickstart", "stdio"}, {"chat", "stdio"},        {"text", "stdio"},
      {"jsonl", "stdio"},      {"tokenize", "tokenize"}, {"perplexity", "perplexity"},
      {"bench", "bench"},      {"serve", "http"},
  };
  for (const auto& [name, frontend] : rows) {
    INFO(name);
    const Result<Pipeline> p = load(name, "any.gguf");
    REQUIRE(p);
    CHECK(p->model.path.value == "any.gguf");
    REQUIRE(p->use.at("frontend").size() == 1);
    CHECK(p->used("frontend")->plugin == frontend);
    for (const auto& [kind, uses] : p->use) CHECK((kind == "frontend" || kind == "sampler"));
    CHECK_FALSE(p->attention.prefill);
    CHECK(p->kernels.pin.empty());
    CHECK(p->kernels.deny.empty());
    const std::string n = name;
    CHECK(p->defaults.empty() != (n == "quickstart" || n == "chat" || n == "text"));
    const bool chained = n == "quickstart" || n == "chat" || n == "text" || n == "jsonl" || n == "serve";
    CHECK((p->use.count("sampler") == 1) == chained);
    if (chained) CHECK(p->use.at("sampler").size() == 7);
  }
}

TEST_CASE("configs: only quickstart brings a model") {
  const Result<Pipeline> p = load("quickstart", {});
  REQUIRE(p);
  CHECK(p->model.path.value == (kConfigs / "../models/SmolLM2-135M-Instruct.Q4_1.gguf").string());
  CHECK_FALSE(load("chat", {}));
}
