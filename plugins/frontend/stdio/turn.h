// One question answered for a person: streamed, interruptible, with figures at the end.
// Thread rule: the front end's thread. Flow: prompt -> engine -> reader -> screen.
#pragma once
#include <mortise/frontend.h>

#include <string>
#include <vector>

#include "client/engine.h"
#include "client/streams.h"
#include "screen.h"

namespace mortise::stdio {

struct Turn {
  std::vector<uint32_t> prompt;
  std::string chat_request;  ///< what the template rendered; empty: a raw prompt, whose answer is plain text
  std::string parameters;    ///< JSON object, or ""
};

struct Outcome {
  std::string content;  ///< without reasoning
  bool cancelled = false;
  bool out_of_tokens = false;
  uint64_t prompt_tokens = 0;
  uint64_t completion_tokens = 0;
  uint64_t cached_tokens = 0;
  double first_token_s = 0;  ///< from the question to the first token
  double decode_s = 0;       ///< from the first token to the last

  /// "time to first token 0.12 s, 45.6 tokens/s, …"
  std::string figures() const;
};

/// Streams to the screen. An interrupt, or a drain's end, cancels; what came until then is in the outcome.
Result<Outcome> answer(const mortise_services& services, client::Channel& channel, client::Control& control,
                       const Turn& turn, Screen& screen);

}  // namespace mortise::stdio
