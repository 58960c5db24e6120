// Tests of a sequence: what it sends, and what an echo costs. Thread rule: single-threaded.
// Flow: CTest -> Sequence -> its channel.
#include "engine/sequence.h"

#include <catch2/catch.hpp>
#include <cmath>

using namespace mortise;

namespace {

std::unique_ptr<Request> scored_request(const std::shared_ptr<Channel>& channel) {
  auto out = std::make_unique<Request>();
  out->id = 7;
  out->channel = channel;
  out->prompt = {5, 6, 7};
  out->max_tokens = 2;
  out->echo = true;
  out->top_logprobs = 0;
  return out;
}

}  // namespace

TEST_CASE("sequence: an echoed prompt is scored once, however often it is computed") {
  auto channel = *Channel::make();
  Sequence sequence(scored_request(channel), 100);
  CHECK(sequence.scores_prompt());
  sequence.prompt_logprobs = {TokenLogprob{-1, {}, {}}, TokenLogprob{-2, {}, {}}};
  sequence.echo_prompt(PieceOf());
  // A preempted sequence begins anew: its prompt has been sent, so no row of it is wanted again.
  CHECK_FALSE(sequence.scores_prompt());
  mortise_event event{};
  REQUIRE(channel->next(0, &event) == 1);
  REQUIRE(event.token_count == 3);
  CHECK(std::isnan(event.logprobs[0].logprob));
  CHECK(event.logprobs[2].logprob == -2);
}

TEST_CASE("sequence: max_tokens and the context end it, each with reason length") {
  auto channel = *Channel::make();
  Sequence sequence(scored_request(channel), 100);
  CHECK_FALSE(sequence.accept(8, {}, PieceOf()));
  CHECK(sequence.accept(9, {}, PieceOf()));
  CHECK(sequence.finish == MORTISE_FINISH_LENGTH);
  Sequence full(scored_request(channel), 4);
  CHECK(full.accept(8, {}, PieceOf()));
  CHECK(full.finish == MORTISE_FINISH_LENGTH);
  full.send_done(full.finish);
  mortise_event event{};
  REQUIRE(channel->next(0, &event) == 1);
  CHECK(event.type == MORTISE_EVENT_DONE);
  CHECK(event.prompt_tokens == 3);
  CHECK(event.completion_tokens == 1);
}

TEST_CASE("sequence: it is admitted for prompt and answer, within the limit") {
  auto channel = *Channel::make();
  CHECK(Sequence(scored_request(channel), 100).admitted_length() == 5);
  CHECK(Sequence(scored_request(channel), 4).admitted_length() == 4);
  auto endless = scored_request(channel);
  endless->max_tokens = UINT64_MAX;
  CHECK(Sequence(std::move(endless), 100).admitted_length() == 100);
}
