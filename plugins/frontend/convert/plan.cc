// The plan's common steps, and the conversions that keep the dialect. Thread rule and flow: see plan.h.
#include "plan.h"

#include <algorithm>

#include "families/families.h"
#include "json/json.h"

namespace mortise::convert {
namespace {

constexpr std::string_view kHubBlobs[] = {"config.json",        "generation_config.json", "tokenizer.json",
                                          "tokenizer.model",    "tokenizer_config.json",  "tekken.json",
                                          "tokenizer.tiktoken", "chat_template.jinja"};

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> ends) {
  return std::any_of(ends.begin(), ends.end(), [&](std::string_view end) { return name.ends_with(end); });
}

std::string_view module_of(std::string_view tensor) {
  return tensor.ends_with(".weight") ? tensor.substr(0, tensor.size() - 7) : tensor;
}

/// AWQ packs linears [out][in]; a family whose hub folders keep them [in][out] would not be read back.
Result<void> check_awq(const mortise_model& model, bool is_gguf) {
  const std::string key = is_gguf ? "general.architecture" : "model_type";
  MORTISE_TRY(type, Metadata(&model).text(key, ""));
  const families::Family* family =
      families::find_family(is_gguf ? families::Dialect::gguf : families::Dialect::hf, type);
  if (family != nullptr && family->has(families::kTransposed))
    return fail(Code::unsupported, key,
                std::string(type) + " keeps its linears transposed in hub folders, which AWQ cannot say; "
                                    "convert to safetensors or gguf instead");
  return {};
}

}  // namespace

Role role_of(std::string_view name, uint32_t rank) {
  if (is_one_of(name, {"token_embd.weight", "embed_tokens.weight", "wte.weight", "lm_head.weight"}) ||
      name == "output.weight")
    return Role::table;
  // Small, and what they decide is not forgiving: routers, gates of shared experts, tables by position.
  if (rank < 2 || is_one_of(name, {"ffn_gate_inp.weight", "ffn_gate_inp_shexp.weight", "position_embd.weight",
                                   "wpe.weight", ".mlp.gate.weight", "block_sparse_moe.gate.weight",
                                   "router.weight", "shared_expert_gate.weight", ".bias", "norm.weight"}))
    return Role::vector;
  return Role::matrix;
}

void set_format(const Options& options, Recipe* recipe) {
  const auto rank = static_cast<uint32_t>(recipe->shape.size());
  const uint64_t group = options.group == 0 ? recipe->columns() : options.group;
  // AWQ knows linear layers of two dimensions alone.
  const Role role = options.target->is_gguf() || rank == 2 ? role_of(recipe->name, rank) : Role::vector;
  recipe->format = format_of(*options.target, role, recipe->rows(), recipe->columns(), group);
  recipe->params.clear();
  if (is_awq(*recipe))
    recipe->params = {{"bits", MORTISE_INT, 1, 4, 0, nullptr, nullptr},
                      {"group_size", MORTISE_INT, 1, static_cast<int64_t>(group), 0, nullptr, nullptr}};
}

Recipe take_over(const mortise_tensor& tensor, std::string name, const Options& options) {
  Recipe out;
  out.shape.assign(tensor.shape, tensor.shape + tensor.rank);
  out.parts = {&tensor};
  out.name = std::move(name);
  set_format(options, &out);
  return out;
}

void transpose(const Options& options, Recipe* recipe) {
  std::swap(recipe->shape[recipe->shape.size() - 2], recipe->shape.back());
  recipe->is_transposed = true;
  set_format(options, recipe);
}

Result<void> plan_gguf_to_gguf(const mortise_model& model, const Options& options, Plan* out) {
  const uint64_t count = model.meta_count(model.ctx);
  for (uint64_t i = 0; i < count; ++i) {
    mortise_str key{};
    mortise_meta value{};
    if (model.meta_at(model.ctx, i, &key, &value) != MORTISE_OK) continue;
    const std::string_view name = view(key);
    if (name == "general.file_type" || name == "general.quantization_version" ||
        name == "general.alignment" || name.starts_with("split."))
      continue;
    out->meta.copy(key, value);
  }
  out->meta.integer("general.file_type", options.target->file_type);
  for (uint64_t i = 0; i < model.tensor_count(model.ctx); ++i) {
    const mortise_tensor& tensor = *model.tensor_at(model.ctx, i);
    out->tensors.push_back(take_over(tensor, std::string(view(tensor.name)), options));
  }
  return {};
}

Result<void> plan_hub_to_hub(const mortise_model& model, const Options& options, Plan* out) {
  for (const std::string_view name : kHubBlobs) {
    mortise_bytes bytes{};
    if (model.blob(model.ctx, str(name), &bytes) == MORTISE_OK)
      out->blobs[std::string(name)].assign(reinterpret_cast<const char*>(bytes.data), bytes.size);
  }
  const Metadata meta(&model);
  MORTISE_TRY(type, meta.text("model_type", ""));
  const families::Family* family = families::find_family(families::Dialect::hf, type);
  out->gain_less_one = family != nullptr && family->has(families::kPlusOne);
  const bool has_blocks = family != nullptr && family->has(families::kInterleavedGateUp);
  for (uint64_t i = 0; i < model.tensor_count(model.ctx); ++i) {
    const mortise_tensor& tensor = *model.tensor_at(model.ctx, i);
    Recipe recipe = take_over(tensor, std::string(view(tensor.name)), options);
    // Out of blocks, which run along the inputs, experts lie [in][out]: see Renamer::lies_transposed.
    if (has_blocks && tensor.rank == 3 && tensor.plane_count > 1) transpose(options, &recipe);
    out->tensors.push_back(std::move(recipe));
  }
  MORTISE_TRY(config, finish_config(out->blobs["config.json"], options, *out));
  out->blobs["config.json"] = std::move(config);
  return {};
}

Result<std::string> finish_config(std::string_view config, const Options& options, const Plan& plan) {
  MORTISE_TRY(value, json::parse(config));
  if (!value.is_object()) return fail(Code::bad_data, "config.json", "is no JSON object");
  value.erase("quantization_config");
  value.erase("dtype");
  const bool is_bf16 = std::string_view(options.target->vector) == "safetensors.bf16/1";
  value["torch_dtype"] = is_bf16 ? "bfloat16" : "float16";
  if (options.target->name == "awq") {
    json::Value awq;
    awq["quant_method"] = "awq";
    awq["bits"] = 4;
    awq["group_size"] = options.group == 0 ? -1 : static_cast<int64_t>(options.group);
    awq["zero_point"] = true;
    awq["version"] = "gemm";
    json::Value kept = json::Value::array();
    for (const Recipe& recipe : plan.tensors)
      if (recipe.shape.size() == 2 && !is_awq(recipe) && role_of(recipe.name, 2) != Role::table &&
          recipe.name.ends_with(".weight"))
        kept.push_back(module_of(recipe.name));
    awq["modules_to_not_convert"] = kept.empty() ? json::Value() : kept;
    value["quantization_config"] = awq;
  }
  return json::dump(value);
}

Result<void> make_plan(const mortise_model_service& service, const Options& options, Plan* out) {
  const mortise_model& model = *service.model;
  out->writer = options.target->writer;
  const std::string_view dialect = model.dialect;
  if (dialect != "gguf" && dialect != "hf")
    return fail(Code::unsupported, "model.path",
                "has the dialect '" + std::string(dialect) +
                    "'; models of the dialects gguf and hf can be converted");
  const bool is_gguf = dialect == "gguf";
  if (options.target->name == "awq") MORTISE_CHECK(check_awq(model, is_gguf));
  if (options.target->is_gguf())
    return is_gguf ? plan_gguf_to_gguf(model, options, out) : plan_hub_to_gguf(service, options, out);
  return is_gguf ? plan_gguf_to_hub(service, options, out) : plan_hub_to_hub(model, options, out);
}

}  // namespace mortise::convert
