// Tests of event channels. Thread rule: some use two threads. Flow: CTest -> Channel.
#include "engine/channel.h"

#include <poll.h>

#include <catch2/catch.hpp>
#include <thread>

using mortise::Channel;
using mortise::Event;

namespace {

Event delta(uint64_t request, std::string text, uint32_t token) {
  Event out;
  out.request = request;
  out.text = std::move(text);
  out.tokens = {token};
  return out;
}

bool is_readable(const Channel& channel) {
  pollfd fd{channel.event_fd(), POLLIN, 0};
  return poll(&fd, 1, 0) == 1;
}

}  // namespace

TEST_CASE("channel: what a slow reader left is merged per request, in order of arrival") {
  auto channel = *Channel::make();
  CHECK_FALSE(is_readable(*channel));
  channel->push(delta(1, "a", 10));
  channel->push(delta(2, "x", 20));
  channel->push(delta(1, "b", 11));
  Event done = delta(1, "c", 12);
  done.type = MORTISE_EVENT_DONE;
  done.finish = MORTISE_FINISH_STOP;
  channel->push(std::move(done));
  CHECK(is_readable(*channel));
  mortise_event event{};
  REQUIRE(channel->next(0, &event) == 1);
  CHECK(event.type == MORTISE_EVENT_DONE);
  CHECK(mortise::view(event.text) == "abc");
  REQUIRE(event.token_count == 3);
  CHECK(event.tokens[2] == 12);
  REQUIRE(channel->next(0, &event) == 1);
  CHECK(event.request == 2);
  CHECK_FALSE(is_readable(*channel));
  CHECK(channel->next(0, &event) == 0);
  CHECK(channel->next(5, &event) == 0);
}

TEST_CASE("channel: closing wakes a reader that waits") {
  auto channel = *Channel::make();
  std::thread closer([&] { channel->close(); });
  mortise_event event{};
  CHECK(channel->next(-1, &event) == -1);
  closer.join();
  channel->push(delta(1, "late", 1));
  CHECK(channel->next(0, &event) == -1);
}

TEST_CASE("channel: every token arrives once, whatever the reader's pace") {
  auto channel = *Channel::make();
  constexpr uint32_t kTokens = 5000;
  std::thread writer([&] {
    for (uint32_t i = 0; i < kTokens; ++i) channel->push(delta(1 + i % 3, "t", i));
  });
  std::vector<bool> seen(kTokens);
  size_t count = 0;
  mortise_event event{};
  while (count < kTokens && channel->next(5000, &event) == 1)
    for (uint64_t i = 0; i < event.token_count; ++i, ++count) {
      REQUIRE_FALSE(seen[event.tokens[i]]);
      seen[event.tokens[i]] = true;
    }
  writer.join();
  CHECK(count == kTokens);
}
