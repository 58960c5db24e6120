// Every limit of the engine, in one place; docs/limits.md repeats them.
// Thread rule: constants. Flow: read by lexer, parser, evaluator, JSON reader and budget.
#pragma once
#include <cstddef>
#include <cstdint>

namespace mortise::jinja {

constexpr size_t kMaxTemplateBytes = 1u << 20;   // a template's source
constexpr int kMaxParseDepth = 100;              // nesting of expressions and of blocks in the source
constexpr size_t kMaxScopeWork = 2'000'000;      // names copied for the branches of one frame's ifs
constexpr int kMaxExprDepth = 300;               // height of an expression's tree (a chain of 300 operators)
constexpr int kMaxEvalDepth = 800;               // evaluator, macro calls, recursive loops, nested values
constexpr uint64_t kMaxOperations = 20'000'000;  // deterministic; a large step counts as many
constexpr int64_t kMaxRenderMs = 1000;           // wall time of one render
constexpr size_t kMaxOutputBytes = 16u << 20;    // rendered text
constexpr size_t kMaxHeapBytes = 256u << 20;     // all values that one render makes
constexpr int64_t kMaxRange = 100'000;           // items of range(), as in the sandbox of the reference
constexpr size_t kMaxInputBytes = 64u << 20;     // messages, tools and variables as JSON
constexpr int kMaxInputDepth = 64;               // nesting of that JSON
constexpr int64_t kMaxFormatWidth = 10'000;      // width or precision in % and {} formatting

}  // namespace mortise::jinja
