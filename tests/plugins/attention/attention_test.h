// A paged KV cache with sequences in it, and steps run through an attention plugin's table as the host does.
// Thread rule: test threads only. Flow: shared by the tests of attention plugins.
#pragma once
#include <mortise/attention.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "plugins/kernel_test.h"

namespace mortise_test {

/// One sequence's inputs for every position: q [length][heads * k_dim], k and v alike over the KV heads.
struct Tokens {
  uint32_t length;
  std::vector<float> q, k, v;

  Tokens(Random& random, const mortise_attention_layer& layer, uint32_t count)
      : length(count),
        q(random.normals(size_t{count} * layer.heads * layer.k_dim)),
        k(random.normals(size_t{count} * layer.kv_heads * layer.k_dim)),
        v(random.normals(size_t{count} * layer.kv_heads * layer.v_dim)) {}
};

/// Rows [first, first + count) of a sequence in a step.
struct Piece {
  uint32_t sequence, first, count;
};

/// The cache of one layer with `sequences` in it, through one bound handle.
class Cache {
 public:
  Cache(const mortise_attention& table, void* self, uint32_t layout, const mortise_attention_layer& layer,
        const std::vector<const Tokens*>& sequences, Random& random)
      : table_(table), self_(self), layer_(layer), sequences_(sequences) {
    mortise_error error = mortise::c_error();
    const mortise_status status = table.accepts(self, layout, &layer, &error);
    INFO(error.message);
    REQUIRE(status == MORTISE_OK);
    REQUIRE(table.bind(self, layout, &layer, &handle_, nullptr) == MORTISE_OK);
    block_bytes_ = table.block_bytes(self, layout, &layer);
    REQUIRE(block_bytes_ % 64 == 0);
    uint32_t longest = 0;
    for (const Tokens* t : sequences) longest = std::max(longest, t->length);
    stride_ = longest / MORTISE_KV_BLOCK_TOKENS + 1;
    // Blocks in random order; the memory starts as NaN, which no result may show.
    ids_.resize(stride_ * sequences.size());
    std::iota(ids_.begin(), ids_.end(), 0u);
    for (size_t i = ids_.size(); i > 1; --i)
      std::swap(ids_[i - 1], ids_[random.below(static_cast<uint32_t>(i))]);
    memory_ = std::make_unique<Scratch>(ids_.size() * block_bytes_);
    for (const Tokens* t : sequences) out_.emplace_back(size_t{t->length} * layer.heads * layer.v_dim, NAN);
  }
  ~Cache() { table_.unbind(self_, handle_); }
  Cache(const Cache&) = delete;

  /// One step over the pieces, followed by `padding` rows without a place.
  void step(const std::vector<Piece>& pieces, uint32_t workers, uint32_t padding = 0);

  /// The results so far of a sequence, [length][heads * v_dim].
  const std::vector<float>& out(uint32_t sequence) const { return out_[sequence]; }

  void read(uint32_t sequence, uint32_t position, std::vector<float>* k, std::vector<float>* v) const {
    k->assign(layer_.kv_heads * layer_.k_dim, NAN);
    v->assign(layer_.kv_heads * layer_.v_dim, NAN);
    const auto* base = static_cast<const uint8_t*>(memory_->data());
    table_.read_token(self_, handle_, base + block(sequence, position) * block_bytes_,
                      position % MORTISE_KV_BLOCK_TOKENS, k->data(), v->data());
  }
  uint8_t* block_memory(uint32_t sequence, uint32_t position) const {
    return static_cast<uint8_t*>(memory_->data()) + block(sequence, position) * block_bytes_;
  }
  uint64_t block_bytes() const { return block_bytes_; }

 private:
  uint64_t block(uint32_t sequence, uint32_t position) const {
    return ids_[sequence * stride_ + position / MORTISE_KV_BLOCK_TOKENS];
  }

  const mortise_attention& table_;
  void* self_;
  mortise_attention_layer layer_;
  std::vector<const Tokens*> sequences_;
  void* handle_ = nullptr;
  uint64_t block_bytes_ = 0;
  uint32_t stride_ = 0;
  std::vector<uint32_t> ids_;
  std::unique_ptr<Scratch> memory_;
  std::vector<std::vector<float>> out_;
};

inline void Cache::step(const std::vector<Piece>& pieces, uint32_t workers, uint32_t padding) {
  const size_t q_cols = layer_.heads * layer_.k_dim, k_cols = layer_.kv_heads * layer_.k_dim;
  const size_t v_cols = layer_.kv_heads * layer_.v_dim, out_cols = layer_.heads * layer_.v_dim;
  std::vector<int32_t> positions;
  std::vector<int64_t> slots;
  std::vector<uint32_t> starts = {0}, lengths, blocks;
  std::vector<float> q, k, v;
  for (const Piece& p : pieces) {
    const Tokens& t = *sequences_[p.sequence];
    for (uint32_t i = p.first; i < p.first + p.count; ++i) {
      positions.push_back(static_cast<int32_t>(i));
      slots.push_back(
          static_cast<int64_t>(block(p.sequence, i) * MORTISE_KV_BLOCK_TOKENS + i % MORTISE_KV_BLOCK_TOKENS));
    }
    const auto copy = [&](std::vector<float>* to, const std::vector<float>& from, size_t cols) {
      to->insert(to->end(), from.begin() + static_cast<ptrdiff_t>(p.first * cols),
                 from.begin() + static_cast<ptrdiff_t>((p.first + p.count) * cols));
    };
    copy(&q, t.q, q_cols);
    copy(&k, t.k, k_cols);
    copy(&v, t.v, v_cols);
    starts.push_back(static_cast<uint32_t>(positions.size()));
    lengths.push_back(p.first + p.count);
    blocks.insert(blocks.end(), &ids_[p.sequence * stride_], &ids_[p.sequence * stride_] + stride_);
  }
  positions.resize(positions.size() + padding, -1);
  slots.resize(positions.size(), -1);
  const auto rows = static_cast<uint32_t>(positions.size());
  for (auto [x, cols] : {std::pair(&q, q_cols), std::pair(&k, k_cols), std::pair(&v, v_cols)})
    x->resize(rows * cols, NAN);
  std::vector<float> out(rows * out_cols, 777.0f);
  const mortise_attention_step step{sizeof(step),
                                    rows,
                                    static_cast<uint32_t>(pieces.size()),
                                    stride_,
                                    positions.data(),
                                    slots.data(),
                                    starts.data(),
                                    lengths.data(),
                                    blocks.data()};
  const uint32_t context = *std::max_element(lengths.begin(), lengths.end());
  Scratch workspace(table_.plan_bytes(self_, handle_, rows, step.sequences, context, workers));
  mortise_plan plan{sizeof(plan), 0, 0};
  mortise_error error = mortise::c_error();
  REQUIRE(table_.plan(self_, handle_, &step, workers, workspace.data(), &plan, &error) == MORTISE_OK);
  REQUIRE(workspace.intact());
  const mortise_attention_args args{sizeof(args), plan.tasks, &step,    workspace.data(), memory_->data(),
                                    q.data(),     q_cols,     k.data(), k_cols,           v.data(),
                                    v_cols,       out.data(), out_cols};
  const uint32_t half = rows / 2;
  table_.append(self_, handle_, &args, half, rows - half);
  table_.append(self_, handle_, &args, 0, half);
  for (uint32_t task = plan.tasks; task-- > 0;) {
    Scratch scratch(plan.scratch_bytes);
    table_.run(self_, handle_, &args, task, scratch.data());
    REQUIRE(scratch.intact());
  }
  REQUIRE(memory_->intact());
  size_t row = 0;
  for (const Piece& p : pieces)
    for (uint32_t i = p.first; i < p.first + p.count; ++i, ++row)
      std::copy_n(&out[row * out_cols], out_cols, &out_[p.sequence][i * out_cols]);
  for (; row < rows; ++row)
    for (size_t c = 0; c < out_cols; ++c) REQUIRE(out[row * out_cols + c] == 0.0f);
}

}  // namespace mortise_test
