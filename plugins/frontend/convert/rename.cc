// Renaming. Thread rule and flow: see rename.h.
#include "rename.h"

#include <set>

namespace mortise::convert {
namespace {

using families::Dialect;
using families::Family;
using families::Role;

bool is_stack(Role role) {
  return role == Role::experts_gate || role == Role::experts_up || role == Role::experts_gate_up ||
         role == Role::experts_down;
}
bool is_single_expert(Role role) {
  return role == Role::expert_gate || role == Role::expert_up || role == Role::expert_down;
}
Role stack_of(Role single) {
  return single == Role::expert_gate ? Role::experts_gate
         : single == Role::expert_up ? Role::experts_up
                                     : Role::experts_down;
}
Role single_of(Role stack) {
  return stack == Role::experts_gate ? Role::expert_gate
         : stack == Role::experts_up ? Role::expert_up
                                     : Role::expert_down;
}

class Renamer {
 public:
  Renamer(const mortise_model_service& service, const families::Hyperparams& h, const Options& options,
          Plan* out)
      : service_(service),
        model_(*service.model),
        h_(h),
        family_(*h.family),
        to_(h.dialect == Dialect::gguf ? Dialect::hf : Dialect::gguf),
        options_(options),
        names_(model_, family_, h.dialect),
        out_(out) {}

  Result<void> run() {
    static constexpr Role kWhole[] = {Role::token_embd, Role::position_embd, Role::output_norm, Role::output};
    for (const Role role : kWhole) MORTISE_CHECK(role_of_layer(role, 0));
    for (uint32_t layer = 0; layer < h_.layers; ++layer)
      for (auto role = static_cast<uint8_t>(Role::attn_norm); role <= static_cast<uint8_t>(Role::shared_down);
           ++role)
        MORTISE_CHECK(role_of_layer(static_cast<Role>(role), layer));
    return check_all_used();
  }

 private:
  Result<void> role_of_layer(Role role, uint32_t layer) {
    if (is_single_expert(role)) return single_experts(role, layer);
    if (!names_.has(role, layer)) return {};
    const std::string name = names_.find(role, layer);
    const mortise_tensor& tensor = *names_.tensor(name);
    if (is_stack(role)) return stacked_experts(role, layer, name, tensor);
    const std::string target = target_name(role, layer);
    if (target.empty()) return no_such(name);
    used_.insert(name);
    Recipe recipe = take_over(tensor, target, options_);
    arrange(role, &recipe);
    MORTISE_CHECK(add(role, std::move(recipe)));
    return bias(role, name, target);
  }

  Result<void> bias(Role role, const std::string& weight, const std::string& target) {
    const std::string name = families::bias_name(weight);
    const mortise_tensor* tensor = names_.tensor(name);
    if (tensor == nullptr) return {};
    used_.insert(name);
    return add(role, take_over(*tensor, families::bias_name(target), options_), true);
  }

  /// What families store otherwise in the two dialects.
  void arrange(Role role, Recipe* recipe) const {
    if (family_.has(families::kPlusOne) && families::is_norm(role))
      (to_ == Dialect::gguf ? recipe->add : recipe->add_last) = to_ == Dialect::gguf ? 1.0f : -1.0f;
    if (family_.has(families::kPermuted) && families::is_permuted(role)) {
      recipe->head_order = to_ == Dialect::gguf ? HeadOrder::to_interleaved : HeadOrder::to_halves;
      recipe->head_rows = h_.head_dim;
    }
    if (family_.has(families::kTransposed) && families::is_transposed(role) && recipe->shape.size() == 2)
      transpose(options_, recipe);
  }

  /// A vector of q or k is small and its elements move: its values are taken now.
  Result<void> add(Role role, Recipe recipe, bool is_bias = false) {
    if (is_bias && family_.has(families::kPermuted) && families::is_permuted(role)) {
      MORTISE_TRY(values, values_of(service_, *recipe.parts[0]));
      if (values.size() % h_.head_dim != 0)
        return fail(Code::bad_data, recipe.name,
                    "has " + std::to_string(values.size()) +
                        " elements, which are no whole number of heads of " + std::to_string(h_.head_dim));
      recipe.values.resize(values.size());
      for (size_t i = 0; i < values.size(); ++i) {
        const size_t size = h_.head_dim, in_head = i % size, half = size / 2;
        const size_t from =
            to_ == Dialect::gguf ? in_head / 2 + in_head % 2 * half : in_head % half * 2 + in_head / half;
        recipe.values[i] = values[i - in_head + from];
      }
      recipe.parts.clear();
    }
    out_->tensors.push_back(std::move(recipe));
    return {};
  }

  /// One tensor per expert becomes a stack.
  Result<void> single_experts(Role role, uint32_t layer) {
    if (h_.experts == 0 || !names_.has(role, layer, 0)) return {};
    Recipe recipe;
    for (uint32_t expert = 0; expert < h_.experts; ++expert) {
      const std::string name = names_.find(role, layer, expert);
      const mortise_tensor* tensor = names_.tensor(name);
      if (tensor == nullptr)
        return fail(Code::bad_data, name, "the model has no such tensor; it is incomplete");
      if (tensor->rank != 2 ||
          (expert > 0 && (tensor->shape[0] != recipe.shape[1] || tensor->shape[1] != recipe.shape[2])))
        return fail(Code::bad_data, name, "is no matrix of the first expert's shape; the file is damaged");
      used_.insert(name);
      if (expert == 0) {
        recipe = take_over(*tensor, target_name(stack_of(role), layer), options_);
        recipe.shape.insert(recipe.shape.begin(), h_.experts);
      } else {
        recipe.parts.push_back(tensor);
      }
    }
    out_->tensors.push_back(std::move(recipe));
    return {};
  }

  Result<void> stacked_experts(Role role, uint32_t layer, const std::string& name,
                               const mortise_tensor& tensor) {
    used_.insert(name);
    if (tensor.rank != 3)
      return fail(Code::bad_data, name,
                  "has " + std::to_string(tensor.rank) + " dimensions instead of 3; the file is damaged");
    if (to_ == Dialect::gguf && role == Role::experts_gate_up) return split_gate_up(layer, name, tensor);
    if (to_ == Dialect::gguf) {
      Recipe recipe = take_over(tensor, target_name(role, layer), options_);
      if (lies_transposed(tensor)) transpose(options_, &recipe);
      MORTISE_CHECK(add(role, std::move(recipe)));
      return bias(role, name, target_name(role, layer));
    }
    if (role == Role::experts_gate_up || names_.tensor(families::bias_name(name)) != nullptr ||
        families::name_template(family_, to_, single_of(role)).empty())
      return no_such(name);
    for (uint32_t expert = 0; expert < h_.experts; ++expert) {
      Recipe recipe =
          take_over(tensor, families::fill(first_choice(single_of(role)), layer, expert), options_);
      recipe.shape.erase(recipe.shape.begin());
      recipe.source_rows = rows_of(tensor);
      recipe.row_offset = expert * recipe.shape[0];
      set_format(options_, &recipe);
      MORTISE_CHECK(add(role, std::move(recipe)));
    }
    return {};
  }

  /// Families that interleave gate and up keep experts [experts][in][out], unless they are in blocks of
  /// several planes, which only run along the inputs.
  bool lies_transposed(const mortise_tensor& tensor) const {
    return family_.has(families::kInterleavedGateUp) && tensor.plane_count == 1;
  }

  /// hf's fused gate and up: two stacks.
  Result<void> split_gate_up(uint32_t layer, const std::string& name, const mortise_tensor& tensor) {
    const bool interleaved = family_.has(families::kInterleavedGateUp);
    const mortise_tensor* bias = names_.tensor(families::bias_name(name));
    for (const bool is_up : {false, true}) {
      Recipe recipe =
          take_over(tensor, target_name(is_up ? Role::experts_up : Role::experts_gate, layer), options_);
      if (lies_transposed(tensor)) transpose(options_, &recipe);
      recipe.source_rows = recipe.shape[1];
      recipe.shape[1] /= 2;
      recipe.row_stride = interleaved ? 2 : 1;
      recipe.row_offset = !is_up ? 0 : interleaved ? 1 : recipe.shape[1];
      if (bias != nullptr) {
        used_.insert(families::bias_name(name));
        MORTISE_CHECK(split_bias(*bias, recipe));
      }
      out_->tensors.push_back(std::move(recipe));
    }
    return {};
  }

  Result<void> split_bias(const mortise_tensor& bias, const Recipe& weight) {
    MORTISE_TRY(values, values_of(service_, bias));
    Recipe recipe = take_over(bias, families::bias_name(weight.name), options_);
    recipe.parts.clear();
    recipe.shape = {weight.shape[0], weight.shape[1]};
    if (values.size() != weight.shape[0] * weight.source_rows)
      return fail(Code::bad_data, recipe.name, "has another number of elements than the experts' rows");
    for (uint64_t e = 0; e < weight.shape[0]; ++e)
      for (uint64_t i = 0; i < weight.shape[1]; ++i)
        recipe.values.push_back(values[e * weight.source_rows + weight.row_offset + i * weight.row_stride]);
    out_->tensors.push_back(std::move(recipe));
    return {};
  }

  std::string_view first_choice(Role role) const {
    const std::string_view choices = families::name_template(family_, to_, role);
    return choices.substr(0, choices.find('|'));
  }
  std::string target_name(Role role, uint32_t layer) const {
    return families::fill(first_choice(role), layer, 0);
  }

  tl::unexpected<Error> no_such(const std::string& name) const {
    return fail(Code::unsupported, name,
                "has no counterpart in the other dialect for the family " + std::string(family_.name) +
                    "; keep the dialect");
  }

  /// A tensor that the family does not know would be lost.
  Result<void> check_all_used() const {
    static constexpr std::string_view kDerived[] = {"rope_freqs.weight", "rope_factors_long.weight",
                                                    "rope_factors_short.weight"};
    for (uint64_t i = 0; i < model_.tensor_count(model_.ctx); ++i) {
      const std::string name(view(model_.tensor_at(model_.ctx, i)->name));
      const bool is_derived =
          std::find(std::begin(kDerived), std::end(kDerived), name) != std::end(kDerived) ||
          name.ends_with(".rotary_emb.inv_freq") || name.ends_with(".attn.bias") ||
          name.ends_with(".masked_bias");
      if (!is_derived && !used_.contains(name)) return no_such(name);
    }
    return {};
  }

  const mortise_model_service& service_;
  const mortise_model& model_;
  const families::Hyperparams& h_;
  const Family& family_;
  const Dialect to_;
  const Options& options_;
  const families::Names names_;
  std::set<std::string> used_;
  Plan* const out_;
};

}  // namespace

Result<std::vector<float>> values_of(const mortise_model_service& service, const mortise_tensor& tensor) {
  const uint64_t rows = rows_of(tensor);
  std::vector<float> out(rows * tensor.shape[tensor.rank - 1]);
  mortise_error error = c_error();
  const mortise_status status = service.read_rows(service.ctx, &tensor, 0, rows, out.data(), &error);
  if (status != MORTISE_OK) return pass(from_c(status, error));
  return out;
}

Result<void> rename_tensors(const mortise_model_service& service, const families::Hyperparams& h,
                            const Options& options, Plan* out) {
  return Renamer(service, h, options, out).run();
}

}  // namespace mortise::convert
