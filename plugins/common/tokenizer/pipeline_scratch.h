// What an encoding thread needs for itself. Thread rule: one thread at a time; kept for the next encode().
// Flow: part of the Pipeline, which lends it to its steps.
#pragma once
#include "tokenizer/pipeline.h"

namespace mortise::hub {

struct Pipeline::Scratch {
  MatchScratch match;
  Pieces pieces;
  std::unique_ptr<ModelScratch> model;
};

/// The text of one encode().
struct Pipeline::Text {
  bool mixed = false;                    // trusted in part
  const TrustedRanges* trust = nullptr;  // of the second search; nullptr: everything is
};

}  // namespace mortise::hub
