// Tokenizer files recognised by their content, whatever they are called.
// Thread rule: pure. Flow: the folder's reader names a blob by it; probes ask it about single files.
#pragma once
#include <string_view>

namespace mortise::hf {

/// The canonical name of what `bytes` (a whole file, or its first 4 KiB) begin: "tokenizer.json",
/// "tokenizer.model" (SentencePiece), "tokenizer.tiktoken" (lines of base64 and rank), "tekken.json"; empty
/// for anything else.
std::string_view tokenizer_file_kind(std::string_view bytes);

}  // namespace mortise::hf
