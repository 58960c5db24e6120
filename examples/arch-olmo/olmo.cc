// A model family as a plugin of its own: OLMo (Groeneveld et al. 2024), whose layer norms have no parameters,
// out of a hub folder.
// Thread rule: [load]. Flow: the host asks accepts, then build, once; the plugin is not called again.
#include <mortise/arch.h>
#include <mortise/cpp/model.h>
#include <mortise/cpp/part.h>

#include <cmath>
#include <string>
#include <vector>

namespace {

using mortise::Code;
using mortise::fail;
using mortise::Metadata;
using mortise::Result;
using mortise::str;

struct Sizes {
  uint32_t layers, hidden, heads, kv_heads, head_dim, context;
  double theta;
};

/// Errors name the key. A key that would change the computation must not be passed over.
Result<Sizes> read_sizes(const Metadata& meta) {
  MORTISE_TRY(layers, meta.integer("num_hidden_layers", 1, 1024));
  MORTISE_TRY(hidden, meta.integer("hidden_size", 1, 1 << 20));
  MORTISE_TRY(heads, meta.integer("num_attention_heads", 1, 1024));
  MORTISE_TRY(kv_heads, meta.integer("num_key_value_heads", 1, heads, heads));
  MORTISE_TRY(context, meta.integer("max_position_embeddings", 1, 1 << 24));
  MORTISE_TRY(theta, meta.number("rope_theta", 10000.0));
  if (heads % kv_heads != 0 || hidden % heads != 0 || hidden / heads % 2 != 0 || theta <= 0)
    return fail(Code::bad_data, "num_attention_heads", "does not fit hidden_size and num_key_value_heads");
  for (const char* key :
       {"clip_qkv", "rope_scaling.type", "rope_scaling.rope_type", "rope_parameters.rope_type"})
    if (meta.has(key)) return fail(Code::unsupported, key, "is set; this plugin reads models without it");
  const auto u32 = [](int64_t value) { return static_cast<uint32_t>(value); };
  return Sizes{u32(layers), u32(hidden), u32(heads), u32(kv_heads), u32(hidden / heads), u32(context), theta};
}

/// The builder's calls, shorter. After a failed one the rest do nothing, and the host reports the failure.
class Graph {
 public:
  Graph(const mortise_builder& builder, const Sizes& sizes) : b_(builder), s_(sizes) {
    const std::vector<float> ones(s_.hidden, 1.0F);
    ones_ = b_.constant(b_.ctx, ones.data(), ones.size());
  }

  void emit(uint32_t vocab) {
    const mortise_arch_info info{sizeof(info), s_.layers,  s_.hidden, s_.heads, s_.kv_heads, s_.head_dim,
                                 vocab,        s_.context, 0,         0,        "olmo"};
    b_.info(b_.ctx, &info);
    const mortise_kv_group group{sizeof(group), s_.kv_heads, s_.head_dim, s_.head_dim, 0, 0};
    group_ = b_.kv_group(b_.ctx, &group);
    std::vector<double> frequencies;
    for (uint32_t i = 0; i < s_.head_dim / 2; ++i)
      frequencies.push_back(std::pow(s_.theta, -2.0 * i / s_.head_dim));
    const mortise_attr table{"inverse_frequencies", MORTISE_LIST, s_.head_dim / 2, 0, 0, nullptr,
                             frequencies.data()};
    rope_ = op("mortise.rope_table/1", {}, {table});
    mortise_node x = b_.embed(b_.ctx, matrix("model.embed_tokens.weight", s_.hidden));
    for (uint32_t layer = 0; layer < s_.layers; ++layer) {
      prefix_ = "model.layers." + std::to_string(layer) + ".";
      x = op("mortise.add/1", {x, attention(norm(x))}, {});
      x = op("mortise.add/1", {x, feed_forward(norm(x))}, {});
    }
    x = norm(b_.take_rows(b_.ctx, x));
    b_.logits(b_.ctx, b_.linear(b_.ctx, x, matrix("lm_head.weight", s_.hidden), 0));
  }

 private:
  static mortise_attr whole(const char* name, int64_t value) {
    return {name, MORTISE_INT, 0, value, 0, nullptr, nullptr};
  }

  mortise_node op(const char* id, const std::vector<mortise_node>& inputs,
                  const std::vector<mortise_attr>& attrs, const std::vector<mortise_vector>& vectors = {}) {
    const mortise_op_use use{sizeof(use),
                             static_cast<uint32_t>(inputs.size()),
                             static_cast<uint32_t>(vectors.size()),
                             static_cast<uint32_t>(attrs.size()),
                             id,
                             inputs.data(),
                             vectors.data(),
                             attrs.data()};
    return b_.op(b_.ctx, &use);
  }

  mortise_matrix matrix(const std::string& name, uint64_t k) {
    const mortise_matrix_source source{sizeof(source), 0, str(name), 0, 0, k};
    return b_.matrix(b_.ctx, &source);
  }

  mortise_node norm(mortise_node x) {
    const mortise_attr eps{"eps", MORTISE_FLOAT, 0, 0, 1e-5, nullptr, nullptr};
    return op("mortise.norm/1", {x}, {whole("rms", 0), eps, whole("width", s_.hidden)}, {ones_});
  }

  mortise_node rope(mortise_node x) {
    return op("mortise.rope/1", {x, rope_},
              {whole("head_dim", s_.head_dim), whole("dims", s_.head_dim), whole("interleaved", 0)});
  }

  mortise_node attention(mortise_node x) {
    const mortise_matrix w[] = {matrix(prefix_ + "self_attn.q_proj.weight", s_.hidden),
                                matrix(prefix_ + "self_attn.k_proj.weight", s_.hidden),
                                matrix(prefix_ + "self_attn.v_proj.weight", s_.hidden)};
    mortise_node qkv[3] = {};
    b_.linear_group(b_.ctx, x, 3, w, nullptr, qkv);
    const auto scale = static_cast<float>(1 / std::sqrt(static_cast<double>(s_.head_dim)));
    const mortise_attention_layer layer{sizeof(layer), s_.heads, s_.kv_heads, s_.head_dim, s_.head_dim, 0, 0,
                                        scale,         0,        nullptr};
    const mortise_node out =
        b_.attention(b_.ctx, b_.kv_slot(b_.ctx, group_), &layer, rope(qkv[0]), rope(qkv[1]), qkv[2]);
    return b_.linear(b_.ctx, out, matrix(prefix_ + "self_attn.o_proj.weight", s_.hidden), 0);
  }

  mortise_node feed_forward(mortise_node x) {
    const mortise_matrix w[] = {matrix(prefix_ + "mlp.gate_proj.weight", s_.hidden),
                                matrix(prefix_ + "mlp.up_proj.weight", s_.hidden)};
    mortise_node gate_up[2] = {};
    b_.linear_group(b_.ctx, x, 2, w, nullptr, gate_up);
    const mortise_attr kind{"kind", MORTISE_STRING, 0, 0, 0, "silu", nullptr};
    const mortise_node y = op("mortise.act_mul/1", {gate_up[0], gate_up[1]}, {kind});
    return b_.linear(b_.ctx, y, matrix(prefix_ + "mlp.down_proj.weight", 0), 0);
  }

  const mortise_builder& b_;
  const Sizes s_;
  std::string prefix_;
  mortise_vector ones_ = 0;
  uint32_t group_ = 0;
  mortise_node rope_ = 0;
};

struct Arch {
  Arch(mortise::Host, const mortise::NoParams&) {}
};

int32_t accepts(void*, const mortise_model* model, mortise_error* error) {
  const mortise_status status = mortise::guard(error, [&]() -> Result<void> {
    if (std::string_view(model->dialect) != "hf")
      return fail(Code::unsupported, "", "reads hub folders only");
    MORTISE_TRY(name, Metadata(model).text("model_type"));
    if (name != "olmo") return fail(Code::unsupported, "", "reads olmo, not '" + std::string(name) + "'");
    return {};
  });
  return status == MORTISE_OK ? 100 : 0;
}

mortise_status build(void*, const mortise_model* model, const mortise_builder* builder,
                     mortise_error* error) {
  return mortise::guard(error, [&]() -> Result<void> {
    MORTISE_TRY(sizes, read_sizes(Metadata(model)));
    const mortise_tensor* table = model->tensor(model->ctx, str("model.embed_tokens.weight"));
    if (table == nullptr) return fail(Code::bad_data, "model.embed_tokens.weight", "is missing");
    Graph(*builder, sizes).emit(static_cast<uint32_t>(table->shape[0]));
    return {};
  });
}

constexpr mortise_arch kTable = {sizeof(mortise_arch), 0, &accepts, &build};
constexpr mortise_part kPart =
    mortise::make_part<Arch>("arch", "olmo", MORTISE_ARCH_ID, "OLMo 1, out of hub folders", &kTable);

}  // namespace

MORTISE_PLUGIN("example.arch-olmo", "1.0.0", "Apache-2.0", MORTISE_ARCH_ID, "arch:olmo", "", &kPart);
