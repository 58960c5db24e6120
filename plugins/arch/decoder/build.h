// The graph's maker: the host's builder with the names and numbers of one model.
// Thread rule: one [load] thread. Flow: decoder.cc drives it layer by layer; attention.cc and feed_forward.cc
// hold its larger parts. A call after a failed one does nothing, and the host reports the first failure.
#pragma once
#include <mortise/arch.h>

#include <string>
#include <string_view>
#include <vector>

#include "families/hyperparams.h"

namespace decoder {

namespace fam = mortise::families;
using fam::Role;

mortise_attr integer(const char* name, int64_t value);
mortise_attr number(const char* name, double value);
mortise_attr text(const char* name, const char* value);
mortise_attr list(const char* name, const std::vector<double>& values);

class Build {
 public:
  Build(const mortise_model& model, const mortise_builder& builder, fam::Hyperparams hyperparams);

  /// The whole graph. Errors of reading the metadata; those of the builder stay with it.
  mortise::Result<void> run();

 private:
  // One weight of a layer and its bias, which may be 0.
  struct Weight {
    mortise_matrix matrix = 0;
    mortise_vector bias = 0;
  };

  mortise_node op(const char* id, std::vector<mortise_node> inputs, std::vector<mortise_attr> attrs,
                  std::vector<mortise_vector> vectors = {});
  mortise_node add(mortise_node a, mortise_node b, double scale_b = 1);
  mortise_node scale(mortise_node x, double by);
  /// The norm of that role over runs of `width` columns; x itself where the family has none.
  mortise_node norm(mortise_node x, Role role, uint32_t width);
  mortise_node norm(mortise_node x, Role role) { return norm(x, role, h_.hidden); }

  bool has(Role role) const { return names_.has(role, at_); }
  std::string name(Role role) const { return names_.find(role, at_); }
  mortise_matrix matrix(const std::string& tensor, uint64_t k, uint32_t flags = 0, uint64_t row0 = 0,
                        uint64_t rows = 0);
  /// The role's weight of k columns, and its bias of `rows` numbers.
  Weight weight(Role role, uint64_t rows, uint64_t k, bool needs_bias);
  mortise_node linear(mortise_node x, const Weight& w) { return b_.linear(b_.ctx, x, w.matrix, w.bias); }
  mortise_vector vector(const std::string& tensor, uint64_t count, bool needed);
  /// Rows of a tensor (of each matrix of one of rank 3), behind the transposition; 0 where it is absent.
  uint64_t rows_of(const std::string& tensor, bool is_transposed) const;

  mortise::Result<mortise_node> rope_table(fam::Rope rope);
  mortise_node embedding(mortise_matrix table);
  mortise_node block(mortise_node x);
  mortise_node head(mortise_node x, mortise_matrix table);
  mortise_node attention(mortise_node x);
  void project(mortise_node x, mortise_node* qkv);
  mortise_node rope(mortise_node x);
  mortise_node feed_forward(mortise_node x);
  mortise_node dense(mortise_node x, Role gate, Role up, Role down);
  mortise_node fused_dense(mortise_node x);
  mortise_node gated(mortise_node gate, mortise_node up);
  mortise_node experts(mortise_node x);
  mortise_node expert_hidden(mortise_node x, mortise_node routing);
  /// One weight of every expert: rows [row0, row0 + rows) of each, in one tensor or in one for each expert.
  mortise_node expert_linear(mortise_node x, mortise_node routing, Role each, Role all, uint64_t k,
                             uint64_t part = 0, uint64_t parts = 1);
  mortise_node shared_expert(mortise_node x);

  const mortise_model& model_;
  const mortise_builder& b_;
  const fam::Hyperparams h_;
  const fam::Names names_;
  fam::RopeTable table_;              // of the layers without a window
  uint32_t at_ = 0;                   // layer that is being made
  uint32_t full_ = 0, windowed_ = 0;  // KV groups, 0 where no layer needs it
  mortise_node rope_ = 0, local_rope_ = 0;
};

}  // namespace decoder
