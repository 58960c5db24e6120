// Sequence: what a drawn token means for the answer, and the events it makes. Thread rule and flow: see
// sequence.h.
#include "engine/sequence.h"

#include <algorithm>
#include <cmath>

#include "engine/score.h"
#include "host/clock.h"

namespace mortise {
namespace {

template <class T>
std::vector<T> take_front(std::vector<T>* from, size_t count) {
  count = std::min(count, from->size());
  const auto end = from->begin() + static_cast<ptrdiff_t>(count);
  std::vector<T> out(std::make_move_iterator(from->begin()), std::make_move_iterator(end));
  from->erase(from->begin(), end);
  return out;
}

}  // namespace

Sequence::Sequence(std::unique_ptr<Request> request, uint32_t limit)
    : tokens(std::move(request->prompt)),
      request_(std::move(request)),
      prompt_count_(static_cast<uint32_t>(tokens.size())),
      limit_(limit),
      admitted_length_(static_cast<uint32_t>(
          prompt_count_ + std::min<uint64_t>(request_->max_tokens, limit - std::min(limit, prompt_count_)))),
      text_(request_->stops) {}

bool Sequence::can_go_on() const { return request_->score == nullptr || request_->score->has_room(); }

/// A score has no events: its rows say that it is done, or its error that it is not.
void Sequence::send(Event event) {
  if (request_->score == nullptr) {
    request_->channel->push(std::move(event));
  } else if (event.type == MORTISE_EVENT_ERROR) {
    request_->score->fail(std::move(event.error));
  } else if (event.finish == MORTISE_FINISH_CANCELLED) {
    request_->score->fail(Error{Code::cancelled, "engine", "the score was cancelled"});
  }
}

Event Sequence::make_event(mortise_event_type type) {
  Event event;
  event.type = type;
  event.request = request_->id;
  event.has_logprobs = request_->top_logprobs >= 0;
  return event;
}

void Sequence::echo_prompt(const PieceOf& piece_of) {
  Event event = make_event(MORTISE_EVENT_DELTA);
  Utf8Stream utf8;
  for (size_t i = 0; i < prompt_count_ && piece_of; ++i) {
    const Piece piece = piece_of(tokens[i], i == 0);
    event.text += utf8.feed(piece.bytes, (piece.flags & MORTISE_PIECE_BYTE) != 0);
  }
  event.text += utf8.finish();
  event.tokens.assign(tokens.begin(), tokens.begin() + prompt_count_);
  if (event.has_logprobs) {
    event.logprobs = std::move(prompt_logprobs);
    event.logprobs.insert(event.logprobs.begin(), TokenLogprob{NAN, {}, {}});
  }
  is_echoed_ = true;
  send(std::move(event));
}

bool Sequence::accept(uint32_t token, TokenLogprob logprob, const PieceOf& piece_of) {
  if (first_token_ns_ == 0) first_token_ns_ = now_ns();
  // A continuation of the prompt is no text of its own start; only a tokenizer that drops a first blank
  // cares.
  const Piece piece = piece_of ? piece_of(token, false) : Piece{};
  if ((piece.flags & MORTISE_PIECE_END) != 0 && !request_->ignore_eos) {
    text_.finish();
    finish = MORTISE_FINISH_STOP;
    return true;
  }
  tokens.push_back(token);
  unsent_tokens_.push_back(token);
  unsent_logprobs_.push_back(std::move(logprob));
  const bool is_shown = (piece.flags & MORTISE_PIECE_CONTROL) == 0;
  const bool is_byte = (piece.flags & MORTISE_PIECE_BYTE) != 0;
  if (text_.add(is_shown ? piece.bytes : std::string_view(), is_byte)) {
    finish = MORTISE_FINISH_STOP;
    return true;
  }
  if (generated() < request_->max_tokens && length() < limit_) return false;
  finish = text_.finish() ? MORTISE_FINISH_STOP : MORTISE_FINISH_LENGTH;
  return true;
}

void Sequence::fill(Event* event) {
  AnswerText::Part part = text_.take();
  event->text = std::move(part.text);
  event->tokens = take_front(&unsent_tokens_, part.tokens);
  std::vector<TokenLogprob> logprobs = take_front(&unsent_logprobs_, part.tokens);
  if (event->has_logprobs) event->logprobs = std::move(logprobs);
  sent_tokens_ += event->tokens.size();
}

void Sequence::send_delta() {
  Event event = make_event(MORTISE_EVENT_DELTA);
  fill(&event);
  if (!event.text.empty() || !event.tokens.empty()) send(std::move(event));
}

void Sequence::send_done(int32_t why) {
  text_.finish();
  Event event = make_event(MORTISE_EVENT_DONE);
  fill(&event);
  event.finish = why;
  event.stop_index = text_.stop_index();
  event.prompt_tokens = prompt_count_;
  event.completion_tokens = sent_tokens_;
  event.cached_tokens = cached;
  event.submitted_ns = request_->submitted_ns;
  event.first_token_ns = first_token_ns_;
  event.finished_ns = now_ns();
  send(std::move(event));
}

void Sequence::send_error(Error error, std::string id) {
  Event event = make_event(MORTISE_EVENT_ERROR);
  event.error = std::move(error);
  event.error_id = std::move(id);
  event.prompt_tokens = prompt_count_;
  event.completion_tokens = sent_tokens_;
  event.submitted_ns = request_->submitted_ns;
  event.first_token_ns = first_token_ns_;
  event.finished_ns = now_ns();
  send(std::move(event));
}

}  // namespace mortise
