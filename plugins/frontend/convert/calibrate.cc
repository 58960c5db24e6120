// Folding scales into recipes. Thread rule and flow: see calibrate.h.
#include "calibrate.h"

#include <algorithm>
#include <string>

#include "plan.h"

namespace mortise::convert {
namespace {

constexpr uint64_t kSampleElements = uint64_t{1} << 21;  // of one weight that the search looks at

/// The tensors of one layer by their names behind the layer's prefix.
class Layer {
 public:
  Layer(std::string prefix, std::vector<Recipe>* tensors) : prefix_(std::move(prefix)), tensors_(tensors) {}

  Recipe* find(std::string_view name) const {
    for (Recipe& recipe : *tensors_)
      if (recipe.name.size() == prefix_.size() + name.size() && recipe.name.starts_with(prefix_) &&
          recipe.name.ends_with(name))
        return &recipe;
    return nullptr;
  }
  /// All whose name behind the prefix begins and ends so: the same weight of every expert.
  std::vector<Recipe*> find_all(std::string_view begin, std::string_view end) const {
    std::vector<Recipe*> out;
    for (Recipe& recipe : *tensors_) {
      const std::string_view name = recipe.name;
      if (name.starts_with(prefix_ + std::string(begin)) && name.ends_with(end)) out.push_back(&recipe);
    }
    return out;
  }

 private:
  std::string prefix_;
  std::vector<Recipe>* tensors_;
};

class Folder {
 public:
  Folder(Host host, const mortise_model_service& model, uint64_t group, bool gain_less_one,
         const StatisticsOf& statistics)
      : host_(host), model_(model), group_(group), gain_less_one_(gain_less_one), statistics_(statistics) {}

  /// Norm `from` (with its bias) feeds `readers`: their columns grow, the norm shrinks.
  Result<void> after_norm(Recipe* from, Recipe* bias, const std::vector<Recipe*>& readers) {
    if (from == nullptr) return {};
    MORTISE_TRY(scales, search(readers));
    if (scales.empty() || scales.size() != from->columns()) return {};
    std::vector<float> inverse = scales;
    for (float& scale : inverse) scale = 1 / scale;
    from->column_scale = inverse;
    if (gain_less_one_ && from->add_last == 0) from->add = 1, from->add_last = -1;
    if (bias != nullptr) bias->column_scale = inverse;
    for (Recipe* reader : readers) reader->column_scale = scales;
    ++folded_;
    return {};
  }

  /// The last rows of projection `from` (and of its bias) feed `reader` column by column.
  Result<void> after_rows(Recipe* from, Recipe* bias, Recipe* reader) {
    if (from == nullptr || reader == nullptr) return {};
    MORTISE_TRY(scales, search({reader}));
    if (scales.empty() || scales.size() > from->rows()) return {};
    const uint64_t skip = from->rows() - scales.size();
    from->row_scale.assign(from->rows(), 1);
    for (size_t i = 0; i < scales.size(); ++i) from->row_scale[skip + i] = 1 / scales[i];
    if (bias != nullptr) bias->column_scale = from->row_scale;
    reader->column_scale = scales;
    ++folded_;
    return {};
  }
  size_t folded() const { return folded_; }

 private:
  /// Empty where there is nothing to scale.
  Result<std::vector<float>> search(const std::vector<Recipe*>& readers) {
    std::vector<Sample> samples;
    std::optional<ColumnStatistics> columns;
    for (const Recipe* reader : readers) {
      if (reader == nullptr || !is_awq(*reader)) continue;
      // An expert that came out of a stack: its rows begin row_offset rows into it.
      const uint64_t slice = reader->source_rows == 0 ? 0 : reader->row_offset / reader->rows();
      if (!columns) columns = statistics_(view(reader->parts.front()->name), slice, reader->columns());
      MORTISE_TRY(sample, take_sample(*reader));
      samples.push_back(std::move(sample));
    }
    if (samples.empty() || !columns) return std::vector<float>();
    return search_scales(host_, samples, *columns, group_ == 0 ? columns->mean_abs.size() : group_);
  }

  /// Every n-th row, as they are before any scale.
  Result<Sample> take_sample(const Recipe& recipe) {
    Sample out{0, recipe.columns(), {}};
    const uint64_t rows = recipe.rows();
    const uint64_t stride = std::max<uint64_t>(1, rows * out.columns / kSampleElements);
    Recipe plain = recipe;
    plain.row_scale.clear();
    plain.column_scale.clear();
    for (uint64_t row = 0; row < rows; row += stride, ++out.rows) {
      out.values.resize((out.rows + 1) * out.columns);
      MORTISE_CHECK(read_rows(model_, plain, row, 1, {}, out.values.data() + out.rows * out.columns));
    }
    return out;
  }

  const Host host_;
  const mortise_model_service& model_;
  const uint64_t group_;
  const bool gain_less_one_;
  const StatisticsOf& statistics_;
  size_t folded_ = 0;
};

std::vector<Recipe*> present(std::initializer_list<Recipe*> recipes) {
  std::vector<Recipe*> out;
  for (Recipe* recipe : recipes)
    if (recipe != nullptr) out.push_back(recipe);
  return out;
}

void append(std::vector<Recipe*>* to, const std::vector<Recipe*>& more) {
  to->insert(to->end(), more.begin(), more.end());
}

/// What reads the norm before the feed-forward part: projections, experts, routers and shared experts.
std::vector<Recipe*> feed_forward_readers(const Layer& layer) {
  std::vector<Recipe*> out = present(
      {layer.find("mlp.gate_proj.weight"), layer.find("mlp.up_proj.weight"),
       layer.find("mlp.gate_up_proj.weight"), layer.find("mlp.c_fc.weight"), layer.find("mlp.gate.weight"),
       layer.find("mlp.shared_expert_gate.weight"), layer.find("mlp.shared_expert.gate_proj.weight"),
       layer.find("mlp.shared_expert.up_proj.weight"), layer.find("block_sparse_moe.gate.weight")});
  append(&out, layer.find_all("mlp.experts.", ".gate_proj.weight"));
  append(&out, layer.find_all("mlp.experts.", ".up_proj.weight"));
  append(&out, layer.find_all("block_sparse_moe.experts.", ".w1.weight"));
  append(&out, layer.find_all("block_sparse_moe.experts.", ".w3.weight"));
  return out;
}

Result<void> fold_layer(const Layer& layer, Folder* folder) {
  auto first = present({layer.find("self_attn.q_proj.weight"), layer.find("self_attn.k_proj.weight"),
                        layer.find("self_attn.v_proj.weight"), layer.find("self_attn.qkv_proj.weight")});
  const std::vector<Recipe*> fed = feed_forward_readers(layer);
  // Where there is a norm of its own before the feed-forward part, the one behind attention feeds the
  // residual.
  Recipe* before = layer.find("pre_feedforward_layernorm.weight");
  const bool has_post_norm = layer.find("post_feedforward_layernorm.weight") != nullptr;
  if (before == nullptr && !has_post_norm) before = layer.find("post_attention_layernorm.weight");
  // Without one, attention and feed-forward part stand side by side and read the same.
  if (before == nullptr && !has_post_norm) append(&first, fed);
  MORTISE_CHECK(
      folder->after_norm(layer.find("input_layernorm.weight"), layer.find("input_layernorm.bias"), first));
  // Experts in a stack are not scaled, so that what they read must stay as it is.
  if (layer.find_all("mlp.experts.gate_up_proj", "").empty())
    MORTISE_CHECK(folder->after_norm(before, layer.find("post_attention_layernorm.bias"), fed));
  Recipe* up = layer.find("mlp.up_proj.weight");
  if (up == nullptr) up = layer.find("mlp.gate_up_proj.weight");
  return folder->after_rows(up, layer.find("mlp.up_proj.bias"), layer.find("mlp.down_proj.weight"));
}

}  // namespace

Result<size_t> fold_scales(Host host, const mortise_model_service& model, uint64_t group, bool gain_less_one,
                           const StatisticsOf& statistics, std::vector<Recipe>* tensors) {
  Folder folder(host, model, group, gain_less_one, statistics);
  for (size_t number = 0;; ++number) {
    const std::string prefix = "model.layers." + std::to_string(number) + ".";
    if (std::none_of(tensors->begin(), tensors->end(),
                     [&](const Recipe& recipe) { return recipe.name.starts_with(prefix); }))
      break;
    MORTISE_CHECK(fold_layer(Layer(prefix, tensors), &folder));
  }
  return folder.folded();
}

}  // namespace mortise::convert
