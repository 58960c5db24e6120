// A model as the host shows it, out of blobs and metadata in memory. Thread rule: single-threaded.
// Flow: tests -> load().
#pragma once
#include <map>
#include <string>

#include "test_metadata.h"

namespace mortise::bpe {

/// A hub folder that was opened.
struct TestModel {
  TestMetadata metadata;
  std::map<std::string, std::string, std::less<>> blobs;
  std::string dialect = "hf";

  /// Valid while this lives and stays where it is.
  mortise_model view();
  Result<Loaded> load() { return bpe::load(view()); }
  /// As load(), but a test failure where it fails.
  Loaded must_load();
};

/// One that holds a tokenizer.json.
TestModel hub_model(std::string tokenizer_json);

/// Decodes ids as a text from its start.
std::string decode_text(const Tokenizer& tokenizer, const std::vector<int32_t>& ids);

}  // namespace mortise::bpe
