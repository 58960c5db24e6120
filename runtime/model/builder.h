// The builder that an arch plugin gets: checks every call and records it in a Graph.
// Thread rule: the loading thread. Flow: arch.build calls it; the first error ends the build and is kept.
#pragma once
#include <mortise/arch.h>
#include <mortise/cpp/result.h>
#include <mortise/format.h>

#include <functional>
#include <map>
#include <string>
#include <tuple>

#include "model/graph.h"

namespace mortise {

constexpr uint32_t kGraphNodesMax = 65536;
constexpr uint32_t kGraphSlotsMax = 4096;
constexpr uint32_t kGraphGroupsMax = 16;
constexpr uint32_t kLinearGroupMax = 64;                    // weights over one x
constexpr uint32_t kExpertsMax = 4096;                      // of one mixture
constexpr uint64_t kVectorElementsMax = uint64_t{1} << 26;  // of one constant
constexpr uint64_t kColumnsMax = uint64_t{1} << 22;         // of one value

/// What the builder asks of the rest of the loader.
struct BuilderHooks {
  /// The tensor of that name, or null.
  std::function<const mortise_tensor*(std::string_view)> tensor;
  /// The format of a tensor, which it has found possible.
  std::function<Result<const mortise_format*>(const mortise_tensor&)> format;
  /// All elements of a tensor as float32; zeros are not enough where only the header is at hand: then ones.
  std::function<Result<std::vector<float>>(const mortise_tensor&)> values;
  /// Chooses a plugin for an operation and asks it for the columns of its result.
  struct Op {
    uint32_t provider, claim;
    uint64_t cols;
  };
  std::function<Result<Op>(const mortise_op_desc&)> op;
};

class GraphBuilder {
 public:
  explicit GraphBuilder(BuilderHooks hooks);
  GraphBuilder(const GraphBuilder&) = delete;
  GraphBuilder& operator=(const GraphBuilder&) = delete;

  const mortise_builder& c() const { return table_; }

  /// The finished graph, or the first error of the build.
  Result<Graph> finish();

  // The calls of mortise_builder, with C++ types. Each returns 0 after a failure.
  void set_info(const mortise_arch_info& info);
  void fail_with(Code code, std::string where, std::string message);
  uint32_t matrix(const mortise_matrix_source& source);
  uint32_t vector(std::string_view name, uint64_t count, bool needed);
  uint32_t constant(const float* data, uint64_t count);
  const float* vector_data(uint32_t id);
  uint32_t embed(uint32_t table);
  uint32_t embed_positions(uint32_t table);
  uint32_t op(const mortise_op_use& use);
  uint32_t linear(uint32_t x, uint32_t w, uint32_t bias, uint32_t group);
  void linear_group(uint32_t x, uint32_t count, const uint32_t* w, const uint32_t* bias, uint32_t* out);
  uint32_t moe_linear(uint32_t x, uint32_t routing, uint32_t count, const uint32_t* experts, uint32_t bias);
  uint32_t view_columns(uint32_t x, uint64_t column0, uint64_t columns);
  uint32_t kv_group(const mortise_kv_group& group);
  uint32_t kv_slot(uint32_t group);
  uint32_t attention(uint32_t slot, const mortise_attention_layer& layer, uint32_t q, uint32_t k, uint32_t v);
  uint32_t take_rows(uint32_t x);
  void logits(uint32_t x);

 private:
  uint32_t push(Node node);
  Matrix* known_matrix(uint32_t id, const char* what);
  uint32_t push_table(NodeKind kind, uint32_t table);
  void transpose(Matrix* matrix);
  bool takes_bias(const Matrix& first, uint64_t count, uint32_t bias);
  bool known(uint32_t node, const char* what);
  bool columns(uint32_t node, uint64_t cols, const char* what);

  BuilderHooks hooks_;
  mortise_builder table_{};
  Graph graph_;
  std::map<std::tuple<std::string, uint64_t, uint64_t, bool>, uint32_t> matrix_ids_;
  std::map<std::tuple<std::string, uint64_t, uint64_t>, const mortise_tensor*> transposed_;  // by slices
  std::map<std::string, uint32_t> vector_ids_;
  uint32_t next_group_ = 1;
  bool failed_ = false;
  Error error_;
};

}  // namespace mortise
