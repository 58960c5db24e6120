// The tables of families: every family is found by its names, every tensor has one role, names are filled in
// and found under other prefixes. Thread rule: one thread. Flow: run by CTest.
#include "families/families.h"

#include <catch2/catch.hpp>
#include <map>
#include <set>

using namespace mortise::families;

namespace {

constexpr int kRoles = static_cast<int>(Role::shared_down) + 1;

/// A model that has the tensors of a set of names.
struct Model {
  std::map<std::string, mortise_tensor> tensors;
  mortise_model view = {};

  explicit Model(const std::set<std::string>& names) {
    for (const std::string& name : names) tensors[name].rank = 2;
    view.size = sizeof(view);
    view.ctx = this;
    view.tensor = [](void* ctx, mortise_str name) -> const mortise_tensor* {
      const auto& all = static_cast<Model*>(ctx)->tensors;
      const auto at = all.find(std::string(name.data, name.size));
      return at == all.end() ? nullptr : &at->second;
    };
  }
};

const Family& family(std::string_view name) { return *find_family(Dialect::hf, name); }

}  // namespace

TEST_CASE("families: each is found by each of its names, and no name by two rows but llama's kin") {
  REQUIRE(family_count() >= 18);
  std::set<std::string_view> names, models;
  for (uint64_t i = 0; i < family_count(); ++i) {
    const Family& row = family_at(i);
    CHECK(names.insert(row.name).second);
    CHECK(models.insert(row.hf).second);
    CHECK(find_family(Dialect::hf, row.hf.substr(0, row.hf.find('|'))) == &row);
    const Family* found = find_family(Dialect::gguf, row.gguf, row.has(kExperts));
    REQUIRE(found != nullptr);
    CHECK(found->gguf == row.gguf);
    CHECK(found->has(kExperts) == row.has(kExperts));
  }
  CHECK(find_family(Dialect::hf, "gemma3")->name == "gemma3");
  CHECK(find_family(Dialect::gguf, "llama", true)->name == "mixtral");
  CHECK(find_family(Dialect::gguf, "llama", false)->name == "llama");
  CHECK(find_family(Dialect::hf, "falcon") == nullptr);
  CHECK(find_family(Dialect::hf, "") == nullptr);
  CHECK(find_family(Dialect::hf, "gemma3_text|gemma3") == nullptr);
}

TEST_CASE("families: a tensor's name has one role, and its placeholders") {
  for (uint64_t i = 0; i < family_count(); ++i)
    for (const Dialect dialect : {Dialect::gguf, Dialect::hf}) {
      std::set<std::string_view> seen;
      for (int r = 0; r < kRoles; ++r) {
        const std::string_view name = name_template(family_at(i), dialect, static_cast<Role>(r));
        if (name.empty()) continue;
        INFO(family_at(i).name << " " << name);
        CHECK(seen.insert(name).second);
        const bool has_layer = name.find("{layer}") != std::string_view::npos;
        CHECK(has_layer == (name.substr(0, 4) == "blk." || name.find(".h.") != std::string_view::npos ||
                            name.find("layers.") != std::string_view::npos));
      }
    }
}

TEST_CASE("families: names are filled in, and biases stand beside their weights") {
  CHECK(fill("blk.{layer}.ffn_up.{expert}.weight", 12, 3) == "blk.12.ffn_up.3.weight");
  CHECK(fill("output.weight", 12, 3) == "output.weight");
  CHECK(bias_name("blk.1.attn_q.weight") == "blk.1.attn_q.bias");
  CHECK(bias_name("mlp.experts.gate_up_proj") == "mlp.experts.gate_up_proj_bias");
  CHECK(key_name(family("gpt2"), Dialect::hf, Key::layers) == "n_layer");
  CHECK(key_name(family("llama"), Dialect::gguf, Key::layers) == "block_count");
}

TEST_CASE("families: tensors are found under the prefix that the model has") {
  const Model plain({"model.embed_tokens.weight", "model.layers.1.self_attn.q_proj.weight"});
  const Model bare({"wte.weight", "h.1.ln_1.weight"});
  const Model inner({"language_model.model.embed_tokens.weight", "language_model.model.norm.weight"});
  CHECK(Names(plain.view, family("llama"), Dialect::hf).find(Role::attn_q, 1) ==
        "model.layers.1.self_attn.q_proj.weight");
  CHECK_FALSE(Names(plain.view, family("llama"), Dialect::hf).has(Role::attn_q, 2));
  CHECK(Names(bare.view, family("gpt2"), Dialect::hf).find(Role::attn_norm, 1) == "h.1.ln_1.weight");
  CHECK(Names(inner.view, family("gemma3"), Dialect::hf).has(Role::output_norm));
  const Model other({"model.layers.0.mlp.gate.weight"});
  const Names mixtral(other.view, family("mixtral"), Dialect::hf);
  CHECK(mixtral.find(Role::router, 0) == "model.layers.0.mlp.gate.weight");
  CHECK(mixtral.find(Role::router, 1) == "model.layers.1.block_sparse_moe.gate.weight");
  CHECK(Names(other.view, family("olmo2"), Dialect::hf).find(Role::attn_norm).empty());
}
