// One sequence's candidates as a sampler sees them: softmax, selection, keep.
// Thread rule: [worker]; a view on a row, used by one thread. Flow: <mortise/cpp/sampler.h> wraps each row of
// mortise_sampler.apply in it.
//
// Order everywhere: the larger logit first, ties to the lower id. NaN counts as -inf. Sums are doubles in an
// order that the row alone decides.
#pragma once
#include <mortise/sampler.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

namespace mortise {
inline namespace v1 __attribute__((visibility("hidden"))) {

  /// exp(logit - largest) of each candidate, and their sum (at least 1, finite).
  struct Weights {
    std::vector<double> of;
    double sum = 0;
  };

  /// The candidates of one sequence; `i` is always an index below size().
  class Candidates {
   public:
    explicit Candidates(mortise_sample_row& row) : row_(row) {}

    uint32_t size() const { return row_.count; }
    uint32_t vocab() const { return row_.vocab; }
    uint32_t id(uint32_t i) const { return row_.ids[i]; }
    /// Never NaN.
    float logit(uint32_t i) const {
      const float x = row_.logits[i];
      return x == x ? x : -std::numeric_limits<float>::infinity();
    }
    std::span<const uint32_t> history() const { return {row_.history, row_.history_count}; }
    uint32_t prompt_count() const { return row_.prompt_count; }
    /// In [0, 1), the same for the same seed, position and `draw`; draw 0 is the host's own.
    double uniform(uint32_t draw) const { return row_.uniform(row_.random, draw); }

    /// -inf where all are. Eight chains side by side, for the compiler's vectors; a NaN never compares.
    float largest() const {
      float lane[8];
      std::fill(std::begin(lane), std::end(lane), -std::numeric_limits<float>::infinity());
      const float* x = row_.logits;
      uint32_t i = 0;
      for (; i + 8 <= size(); i += 8)
        for (uint32_t j = 0; j < 8; ++j) lane[j] = lane[j] < x[i + j] ? x[i + j] : lane[j];
      for (; i < size(); ++i) lane[0] = lane[0] < x[i] ? x[i] : lane[0];
      return *std::max_element(std::begin(lane), std::end(lane));
    }

    /// Index of the likeliest candidate: the first with the largest logit, whichever the row's order.
    uint32_t likeliest() const {
      const float top = largest();
      uint32_t i = 0;
      while (logit(i) != top) ++i;
      return i;
    }

    /// True where candidate `a` is likelier than `b`: a strict total order. Of equal ones the lower index has
    /// the lower id, in both orders that a row can have.
    bool before(uint32_t a, uint32_t b) const {
      const float x = logit(a), y = logit(b);
      return x != y ? x > y : a < b;
    }

    /// Where every logit is -inf, or several are +inf, these share the weight equally.
    Weights softmax() const {
      Weights w;
      w.of.resize(size());
      const double top = largest();
      for (uint32_t i = 0; i < size(); ++i) {
        const double x = logit(i);
        w.of[i] = x == top ? 1.0 : std::exp(x - top);
        w.sum += w.of[i];
      }
      return w;
    }

    /// Index of a token, or size() where it is no candidate.
    uint32_t find(uint32_t token) const {
      if ((row_.flags & MORTISE_ROW_DENSE) != 0) return std::min(token, size());
      const uint32_t *begin = row_.ids, *end = begin + size();
      if ((row_.flags & MORTISE_ROW_SORTED) != 0)
        return static_cast<uint32_t>(std::find(begin, end, token) - begin);
      const uint32_t* at = std::lower_bound(begin, end, token);
      return at != end && *at == token ? static_cast<uint32_t>(at - begin) : size();
    }

    /// Sets logit(i) = change(i, logit(i)) for all; what was sorted is sorted again.
    template <class Change>
    void update(Change change) {
      for (uint32_t i = 0; i < size(); ++i) row_.logits[i] = change(i, logit(i));
      if ((row_.flags & MORTISE_ROW_SORTED) != 0) sort();
    }

    /// Keeps the candidates that `wanted(i)` names, in their order; the likeliest where it names none.
    template <class Wanted>
    void keep_if(Wanted wanted) {
      uint32_t kept = 0;
      for (uint32_t i = 0; i < size(); ++i)
        if (wanted(i)) move(i, kept++);
      if (kept == 0) move(likeliest(), kept++);
      shrink(kept);
    }

    /// Keeps candidate `last` and all that are likelier.
    void keep_to(uint32_t last) {
      const float bar = logit(last);
      keep_if([&](uint32_t i) { return logit(i) > bar || (logit(i) == bar && i <= last); });
    }

    /// Index of the k-th likeliest candidate, 1 <= k <= size(). One pass over the row: a candidate must beat
    /// the k-th best so far, to which it loses a tie, for it has the higher id.
    uint32_t nth(uint32_t k) const {
      if ((row_.flags & MORTISE_ROW_SORTED) != 0) return k - 1;
      const size_t room = std::min<size_t>(size(), 2 * size_t{k} + 64);
      std::vector<uint32_t> best;
      best.reserve(room);
      float bar = 0;
      bool full = false;  // k candidates were seen whose logits are at least `bar`
      const auto cut = [&] {
        std::nth_element(best.begin(), best.begin() + (k - 1), best.end(),
                         [this](uint32_t a, uint32_t b) { return before(a, b); });
        best.resize(k);
        bar = logit(best[k - 1]);
        full = true;
      };
      for (uint32_t i = 0; i < size(); ++i) {
        if (full && logit(i) <= bar) continue;
        if (best.size() == room) {
          cut();
          if (logit(i) <= bar) continue;
        }
        best.push_back(i);
      }
      cut();
      return best[k - 1];
    }

    /// Sorts by falling logit, ties by rising id.
    void sort() {
      std::vector<uint32_t> order(size());
      std::iota(order.begin(), order.end(), 0u);
      std::sort(order.begin(), order.end(), [this](uint32_t a, uint32_t b) {
        return logit(a) != logit(b) ? logit(a) > logit(b) : id(a) < id(b);
      });
      std::vector<uint32_t> ids(size());
      std::vector<float> logits(size());
      for (uint32_t i = 0; i < size(); ++i) ids[i] = row_.ids[order[i]], logits[i] = row_.logits[order[i]];
      std::copy(ids.begin(), ids.end(), row_.ids);
      std::copy(logits.begin(), logits.end(), row_.logits);
      row_.flags = MORTISE_ROW_SORTED;
    }

   private:
    void move(uint32_t from, uint32_t to) {
      row_.ids[to] = row_.ids[from];
      row_.logits[to] = row_.logits[from];
    }
    void shrink(uint32_t count) {
      if (count < row_.count) row_.flags &= ~uint32_t{MORTISE_ROW_DENSE};
      row_.count = count;
    }

    mortise_sample_row& row_;
  };

  /// The last of the fewest `items` (indices into `weights`; not empty), taken in the order of `before`,
  /// whose weights reach `mass`. Halves the range in which it lies, so that nothing is sorted but its last
  /// stretch.
  template <class Before>
  uint32_t reach_mass(std::vector<uint32_t> items, const std::vector<double>& weights, double mass,
                      Before before) {
    auto from = items.begin(), to = items.end();
    double sum = 0;  // of the weights before `from`
    while (to - from > 64) {
      const auto middle = from + (to - from) / 2;
      std::nth_element(from, middle, to, before);
      double front = 0;
      for (auto at = from; at != middle; ++at) front += weights[*at];
      if (sum + front >= mass) {
        to = middle;
      } else {
        sum += front;
        from = middle;
      }
    }
    std::sort(from, to, before);
    for (; from + 1 != to; ++from)
      if ((sum += weights[*from]) >= mass) break;
    return *from;
  }

}  // namespace )
}  // namespace mortise
