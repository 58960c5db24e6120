// Loads a built sampler as the host would and runs it over a row of a test's making.
// Thread rule: single-threaded. Flow: used by the sampler tests; goes through the .so and its C table, so
// that registration, declared defaults and the row contract are under test too.
#pragma once
#include <dlfcn.h>
#include <mortise/plugin.h>
#include <mortise/sampler.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <cstring>
#include <map>
#include <numeric>
#include <string>
#include <vector>

/// A sampler with the values of one request: the declared defaults, some of them replaced.
class SamplerRig {
 public:
  explicit SamplerRig(const std::string& name) {
    const std::string path = MORTISE_TEST_BUILD "/lib/mortise/mortise-sampler-" + name + ".so";
    void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    INFO(path);
    REQUIRE(handle != nullptr);
    const auto entry = reinterpret_cast<mortise_plugin_entry*>(dlsym(handle, MORTISE_ENTRY_NAME));
    REQUIRE(entry != nullptr);
    REQUIRE(entry()->part_count == 1);
    part_ = entry()->parts[0];
    REQUIRE(std::string(part_->kind) == "sampler");
    REQUIRE(part_->name == name);
    REQUIRE(std::string(part_->interface_id) == MORTISE_SAMPLER_ID);
    table = static_cast<const mortise_sampler*>(part_->table);
    for (uint32_t i = 0; i < part_->param_count; ++i) values.push_back(by_default(*part_->params[i]));
  }

  SamplerRig& set(const std::string& name, double number) {
    mortise_value& v = find(name);
    v.i = static_cast<int64_t>(number);
    v.f = number;
    return *this;
  }

  SamplerRig& set_map(const std::string& name, const std::map<std::string, double>& entries) {
    mortise_value& v = find(name);
    for (const auto& [key, number] : entries) {
      texts_.push_back(key);
      mortise_value item{};
      item.type = MORTISE_FLOAT;
      item.f = number;
      items_.push_back(item);
    }
    for (const std::string& text : texts_) keys_.push_back({text.data(), text.size()});
    v.items = items_.data();
    v.keys = keys_.data();
    v.count = items_.size();
    return *this;
  }

  bool is_identity() const { return table->is_identity(nullptr, values.data()) != 0; }

  /// "" or the error's "where: message".
  std::string check(uint32_t vocab) const {
    mortise_error error{};
    error.size = sizeof(error);
    if (table->check == nullptr || table->check(nullptr, values.data(), vocab, &error) == MORTISE_OK)
      return "";
    return std::string(error.where) + ": " + error.message;
  }

  const mortise_sampler* table = nullptr;
  std::vector<mortise_value> values;

 private:
  static mortise_value by_default(const mortise_param& p) {
    mortise_value v{};
    v.type = p.type;
    v.is_set = 1;
    v.f = std::strtod(p.fallback, nullptr);
    v.i = static_cast<int64_t>(v.f);
    return v;
  }
  mortise_value& find(const std::string& name) {
    for (uint32_t i = 0; i < part_->param_count; ++i)
      if (part_->params[i]->name == name) return values[i];
    FAIL("no parameter " << name);
    return values[0];
  }

  const mortise_part* part_ = nullptr;
  std::vector<std::string> texts_;
  std::vector<mortise_value> items_;
  std::vector<mortise_str> keys_;
};

/// Candidates with what the contract says of them.
struct SamplerRow {
  std::vector<uint32_t> ids;
  std::vector<float> logits;
  std::vector<uint32_t> history;
  uint32_t prompt_count = 0;
  uint32_t vocab = 0;
  uint32_t flags = 0;

  static SamplerRow dense(std::vector<float> logits) {
    SamplerRow row;
    row.ids.resize(logits.size());
    std::iota(row.ids.begin(), row.ids.end(), 0u);
    row.vocab = static_cast<uint32_t>(logits.size());
    row.logits = std::move(logits);
    row.flags = MORTISE_ROW_DENSE;
    return row;
  }

  void apply(const SamplerRig& sampler) { apply(sampler, {this}); }

  /// One call for all of `together`.
  static void apply(const SamplerRig& sampler, const std::vector<SamplerRow*>& together) {
    std::vector<mortise_sample_row> rows;
    for (SamplerRow* row : together) rows.push_back(row->as_c(sampler));
    std::vector<mortise_sample_row*> pointers;
    for (mortise_sample_row& row : rows) pointers.push_back(&row);
    mortise_error error{};
    error.size = sizeof(error);
    REQUIRE(sampler.table->apply(nullptr, pointers.data(), static_cast<uint32_t>(pointers.size()), &error) ==
            MORTISE_OK);
    for (size_t i = 0; i < rows.size(); ++i) together[i]->take(rows[i]);
  }

 private:
  mortise_sample_row as_c(const SamplerRig& sampler) {
    mortise_sample_row row{};
    row.size = sizeof(row);
    row.flags = flags;
    row.count = static_cast<uint32_t>(ids.size());
    row.vocab = vocab;
    row.ids = ids.data();
    row.logits = logits.data();
    row.values = sampler.values.data();
    row.history = history.data();
    row.history_count = static_cast<uint32_t>(history.size());
    row.prompt_count = prompt_count;
    return row;
  }

  void take(const mortise_sample_row& row) {
    REQUIRE(row.count >= 1);
    REQUIRE(row.count <= ids.size());
    ids.resize(row.count);
    logits.resize(row.count);
    flags = row.flags;
    check_contract();
  }

  void check_contract() const {
    for (size_t i = 0; i < ids.size(); ++i) {
      REQUIRE(ids[i] < vocab);
      if ((flags & MORTISE_ROW_DENSE) != 0) REQUIRE(ids[i] == i);
      if (i == 0) continue;
      if ((flags & MORTISE_ROW_SORTED) == 0) {
        REQUIRE(ids[i - 1] < ids[i]);
      } else if (logits[i] == logits[i]) {
        REQUIRE((logits[i - 1] > logits[i] || (logits[i - 1] == logits[i] && ids[i - 1] < ids[i])));
      }
    }
  }
};
