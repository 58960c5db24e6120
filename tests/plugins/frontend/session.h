// A front end's mode run on a thread of its own, with pipes for standard input and output.
// Thread rule: the test's thread; the mode runs beside it. Flow: say() lines, hear() answers, end() and wait.
#pragma once
#include <poll.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <functional>
#include <string>
#include <thread>

#include "client/streams.h"
#include "plugins/frontend/fake_engine.h"
#include "plugins/frontend/fake_text.h"

namespace fake {

class Session {
 public:
  using Mode =
      std::function<mortise::Result<void>(const mortise_services&, mortise::client::Control&, int, int)>;

  Engine engine;
  Text text;
  mortise_services services{};
  mortise::client::Control control;

  Session() {
    REQUIRE(pipe(in_) == 0);
    REQUIRE(pipe(out_) == 0);
    services.size = sizeof(services);
    services.text = text.get();
    services.engine = engine.get();
  }
  ~Session() {
    end();
    if (thread_.joinable()) thread_.join();
    for (const int fd : {in_[0], out_[0], out_[1]}) close(fd);
  }

  void start(Mode mode) {
    thread_ = std::thread([this, mode] { result_ = mode(services, control, in_[0], out_[1]); });
  }
  /// For the test's own thread; send is for others, where Catch must not be used.
  void say(const std::string& bytes) { REQUIRE(send(bytes)); }
  mortise::Result<void> send(const std::string& bytes) { return mortise::client::write_all(in_[1], bytes); }
  /// The input is over.
  void end() {
    if (in_[1] >= 0) close(in_[1]);
    in_[1] = -1;
  }
  /// The next whole line of output; fails after 20 seconds.
  std::string hear() {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (true) {
      if (const size_t newline = heard_.find('\n'); newline != std::string::npos) {
        const std::string line = heard_.substr(0, newline);
        heard_.erase(0, newline + 1);
        return line;
      }
      read_some();
      if (std::chrono::steady_clock::now() > deadline) FAIL("no line came; so far: " + heard_);
    }
  }
  bool silent(int ms) {
    pollfd fd{out_[0], POLLIN, 0};
    return heard_.empty() && poll(&fd, 1, ms) == 0;
  }
  /// Waits for the mode's end and gives what it returned.
  mortise::Result<void> finish() {
    thread_.join();
    return result_;
  }
  /// All output that was not heard yet; after finish.
  std::string rest() {
    while (read_some()) {
    }
    return std::exchange(heard_, {});
  }

 private:
  bool read_some() {
    pollfd fd{out_[0], POLLIN, 0};
    if (poll(&fd, 1, thread_.joinable() ? 100 : 0) <= 0) return false;
    char buffer[65536];
    const ssize_t got = read(out_[0], buffer, sizeof(buffer));
    if (got > 0) heard_.append(buffer, static_cast<size_t>(got));
    return got > 0;
  }

  int in_[2] = {-1, -1}, out_[2] = {-1, -1};
  std::thread thread_;
  mortise::Result<void> result_;
  std::string heard_;
};

}  // namespace fake
