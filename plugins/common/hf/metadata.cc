// Flattening of JSON configs. Thread rule and flow: see metadata.h.
#include "hf/metadata.h"

#include <utility>

#include "hf/hf_limits.h"
#include "hf/json_events.h"

namespace mortise::hf {
namespace {

/// Keeps the path of open objects and lists; a list's items wait until it is clear whether it is an array.
class Flattener final : public JsonHandler {
 public:
  Flattener(const std::string& where, const std::string& prefix, std::string_view skip, Metadata* out)
      : where_(where), path_(prefix), skip_(skip), out_(*out) {}

  Result<void> begin(bool is_object, uint64_t at) override {
    if (skipped_ > 0) return ++skipped_, Result<void>();
    if (frames_.empty() && !is_object) return bad(at, "is not a JSON object");
    if (frames_.size() == 1 && is_object && !skip_.empty() && key_ == skip_) {
      skipped_ = 1;
      return {};
    }
    if (!frames_.empty()) {
      MORTISE_CHECK(spread_items(at));
      MORTISE_CHECK(enter(at));
    }
    frames_.push_back({is_object, false, 0, {}});
    return {};
  }

  Result<void> end() override {
    if (skipped_ > 0) return --skipped_, Result<void>();
    Frame frame = std::move(frames_.back());
    frames_.pop_back();
    if (!frame.is_object && !frame.is_spread) MORTISE_CHECK(add_array(std::move(frame.items)));
    leave();
    return {};
  }

  Result<void> key(std::string_view name, uint64_t at) override {
    if (skipped_ > 0) return {};
    key_ = std::string(name);
    key_at_ = at;
    return {};
  }

  Result<void> scalar(Scalar value, uint64_t at) override {
    if (skipped_ > 0) return {};
    if (frames_.empty()) return bad(at, "is not a JSON object");
    Frame& frame = frames_.back();
    if (!frame.is_object && !frame.is_spread) {
      const bool fits = value.kind != Scalar::null && (frame.items.empty() || alike(frame.items[0], value));
      if (fits) return frame.items.push_back(std::move(value)), Result<void>();
      MORTISE_CHECK(spread_items(at));
    }
    return add_scalar(std::move(value), at);
  }

 private:
  struct Frame {
    bool is_object;
    bool is_spread;  // a list whose items are keys of their own
    uint64_t next;   // index of a list's next item
    std::vector<Scalar> items;
  };

  static bool is_number(const Scalar& s) { return s.kind == Scalar::integer || s.kind == Scalar::number; }
  static bool alike(const Scalar& a, const Scalar& b) {
    return a.kind == b.kind || (is_number(a) && is_number(b));
  }
  tl::unexpected<Error> bad(uint64_t at, const std::string& what) const {
    return fail(Code::bad_data, where_, what + "; the file is damaged or of another kind", at);
  }

  /// Appends the next value's own name to the path; leave() takes it off again.
  Result<void> enter(uint64_t at) {
    Frame& frame = frames_.back();
    parents_.push_back(path_.size());
    if (frames_.size() > 1) path_ += '.';
    path_ += frame.is_object ? key_ : std::to_string(frame.next++);
    if (path_.size() <= kConfigKeyBytesMax) return {};
    return fail(Code::limit, where_,
                "a key with its path is longer than " + std::to_string(kConfigKeyBytesMax) + " bytes", at);
  }
  void leave() {
    if (parents_.empty()) return;  // the outermost object
    path_.resize(parents_.back());
    parents_.pop_back();
  }

  /// The open list is no array: what it held so far become keys.
  Result<void> spread_items(uint64_t at) {
    Frame& frame = frames_.back();
    if (frame.is_object || frame.is_spread) return {};
    frame.is_spread = true;
    for (Scalar& item : std::exchange(frame.items, {})) MORTISE_CHECK(add_scalar(std::move(item), at));
    return {};
  }

  Result<void> add_scalar(Scalar value, uint64_t at) {
    MORTISE_CHECK(enter(at));
    Result<void> added;
    if (value.kind != Scalar::null) {
      std::vector<Scalar> one;
      one.push_back(std::move(value));
      added = add_entry(std::move(one), false, at);
    }
    leave();
    return added;
  }
  Result<void> add_array(std::vector<Scalar> items) { return add_entry(std::move(items), true, key_at_); }

  Result<void> add_entry(std::vector<Scalar> items, bool is_array, uint64_t at) {
    Metadata::Entry entry;
    entry.key = path_;
    entry.is_array = is_array;
    bool whole = true;
    for (const Scalar& item : items) whole = whole && item.kind != Scalar::number;
    for (Scalar& item : items) {
      if (item.kind == Scalar::text) {
        entry.type = MORTISE_STRING;
        entry.texts.push_back(std::move(item.text_value));
      } else if (whole) {
        entry.type = item.kind == Scalar::boolean ? MORTISE_BOOL : MORTISE_INT;
        entry.ints.push_back(item.integer_value);
      } else {
        entry.type = MORTISE_FLOAT;
        entry.floats.push_back(item.number_value);
      }
    }
    if (out_.size() >= kConfigKeysMax)
      return fail(Code::limit, where_, "more than " + std::to_string(kConfigKeysMax) + " keys", at);
    if (!out_.add(std::move(entry))) return bad(at, "the key " + in_quotes(path_) + " occurs twice");
    return {};
  }

  const std::string& where_;
  std::string path_;
  std::string_view skip_;
  Metadata& out_;
  std::vector<Frame> frames_;
  std::vector<size_t> parents_;
  std::string key_;
  uint64_t key_at_ = 0;
  size_t skipped_ = 0;
};

}  // namespace

mortise_meta Metadata::Entry::value() const {
  const auto of = [this](const auto& list) {
    return mortise_meta{type, is_array ? 1u : 0u, list.size(), list.data()};
  };
  if (type == MORTISE_FLOAT) return of(floats);
  if (type == MORTISE_STRING) return of(strings);
  return of(ints);
}

Result<void> Metadata::add_json(std::string_view json, const std::string& where, const std::string& prefix,
                                std::string_view skip) {
  Flattener flattener(where, prefix, skip, this);
  return walk_json(json, where, 0, flattener);
}

bool Metadata::add(Entry entry) {
  if (find(entry.key) != nullptr) return false;
  entries_.push_back(std::move(entry));
  Entry& kept = entries_.back();
  for (const std::string& text : kept.texts) kept.strings.push_back(str(text));
  by_key_.emplace(kept.key, &kept);
  return true;
}

void Metadata::add_text(std::string key, std::string text) {
  Entry entry;
  entry.key = std::move(key);
  entry.type = MORTISE_STRING;
  entry.texts.push_back(std::move(text));
  add(std::move(entry));
}

const Metadata::Entry* Metadata::find(std::string_view key) const {
  const auto at = by_key_.find(key);
  return at == by_key_.end() ? nullptr : at->second;
}

std::string_view Metadata::text(std::string_view key) const {
  const Entry* entry = find(key);
  if (entry == nullptr || entry->type != MORTISE_STRING || entry->is_array) return {};
  return entry->texts[0];
}

bool Metadata::has_prefix(std::string_view prefix) const {
  for (const Entry& entry : entries_)
    if (entry.key.compare(0, prefix.size(), prefix) == 0) return true;
  return false;
}

}  // namespace mortise::hf
