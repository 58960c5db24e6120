// A sequence: one request on its way through the engine, with its tokens, KV blocks and the text that it has
// produced. Thread rule: the engine thread. Flow: queue -> waiting -> running (perhaps back to waiting, when
// blocks run out) -> done.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/answer_text.h"
#include "engine/channel.h"
#include "engine/kv_pool.h"
#include "engine/request.h"

namespace mortise {

/// What a token stands for; the flags of tokenizer.h.
struct Piece {
  std::string_view bytes;
  uint32_t flags = 0;
};
/// Pieces by id; empty for a pipeline without a tokenizer.
using PieceOf = std::function<Piece(uint32_t id, bool first)>;

class Sequence {
 public:
  /// `limit`: most tokens, prompt and answer.
  Sequence(std::unique_ptr<Request> request, uint32_t limit);

  Request& request() { return *request_; }
  const Request& request() const { return *request_; }
  uint64_t id() const { return request_->id; }
  uint32_t length() const { return static_cast<uint32_t>(tokens.size()); }
  uint32_t prompt_count() const { return prompt_count_; }
  uint32_t generated() const { return length() - prompt_count_; }
  /// Tokens that the sequence can come to have; known when it is made, and what RoPE may depend on.
  uint32_t admitted_length() const { return admitted_length_; }
  /// True while prompt positions need their log-probabilities: until the echo has taken them along.
  bool scores_prompt() const { return request_->echo && request_->top_logprobs >= 0 && !is_echoed_; }

  /// False for a score whose reader has not taken its last rows yet.
  bool can_go_on() const;
  /// Sends what an echo gives back, once it is complete.
  void echo_prompt(const PieceOf& piece_of);
  /// Takes a drawn token. True where the answer is complete; `finish` then says why.
  bool accept(uint32_t token, TokenLogprob logprob, const PieceOf& piece_of);
  /// Sends new text and tokens, if there are any.
  void send_delta();
  void send_done(int32_t finish);
  void send_error(Error error, std::string id);

  std::vector<uint32_t> tokens;  // prompt, then what was generated
  uint32_t computed = 0;         // tokens whose K and V are in the cache
  uint32_t cached = 0;           // of them found there when the sequence was first admitted
  std::vector<uint32_t> blocks;
  KvPool::Key root;     // what its blocks may be shared under
  KvPool::Key key;      // of the last sealed block
  uint32_t sealed = 0;  // blocks
  std::vector<TokenLogprob> prompt_logprobs;
  uint32_t scored = 0;  // rows that a score's reader was given
  uint64_t order = 0;   // of admission: the youngest is preempted first
  int32_t finish = 0;

 private:
  Event make_event(mortise_event_type type);
  void fill(Event* event);
  void send(Event event);

  std::unique_ptr<Request> request_;
  const uint32_t prompt_count_;
  const uint32_t limit_;
  const uint32_t admitted_length_;
  AnswerText text_;
  bool is_echoed_ = false;
  std::vector<uint32_t> unsent_tokens_;
  std::vector<TokenLogprob> unsent_logprobs_;
  uint64_t sent_tokens_ = 0;
  uint64_t first_token_ns_ = 0;
};

}  // namespace mortise
