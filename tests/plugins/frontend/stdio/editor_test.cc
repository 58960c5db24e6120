// The editor and the screen on a pseudo-terminal.
// Thread rule: the chat's side runs on a thread of its own. Flow: keys in at the terminal, what it shows out.
#include "editor.h"

#include <poll.h>
#include <pty.h>
#include <termios.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <thread>

#include "screen.h"

using namespace mortise;
using Got = stdio::Editor::Got;

namespace {

struct Terminal {
  Terminal() {
    setenv("TERM", "xterm", 1);
    winsize size{24, 80, 0, 0};
    REQUIRE(openpty(&keys, &device, nullptr, nullptr, &size) == 0);
    in = fdopen(dup(device), "r");
    out = fdopen(dup(device), "w");
  }
  ~Terminal() {
    fclose(in);
    fclose(out);
    close(device);
    close(keys);
  }
  /// The editor writes its prompt a moment before it takes the terminal out of line mode, in which Ctrl-D
  /// would not be a character.
  void type(const std::string& text) {
    termios mode{};
    for (int i = 0; i < 2000 && tcgetattr(device, &mode) == 0 && (mode.c_lflag & ICANON) != 0; ++i)
      poll(nullptr, 0, 10);
    REQUIRE((mode.c_lflag & ICANON) == 0);
    REQUIRE(client::write_all(keys, text));
  }
  /// Reads what is shown until `wanted` appears; false after 20 seconds without it.
  bool shows(const std::string& wanted) {
    pollfd fd{keys, POLLIN, 0};
    while (shown.find(wanted) == std::string::npos) {
      if (poll(&fd, 1, 20'000) <= 0) return false;
      char buffer[4096];
      const ssize_t got = read(keys, buffer, sizeof(buffer));
      if (got <= 0) return false;
      shown.append(buffer, static_cast<size_t>(got));
    }
    return true;
  }
  int keys = -1, device = -1;
  std::FILE *in = nullptr, *out = nullptr;
  std::string shown;
};

struct Typed {
  Got got = Got::end;
  std::string line;
};

/// Reads `count` lines on another thread, as the chat does.
struct Reading {
  Reading(Terminal& terminal, client::Control& control, size_t count)
      : thread([this, &terminal, &control, count] {
          const auto editor = stdio::make_editor(terminal.in, terminal.out, control);
          for (size_t i = 0; i < count; ++i) {
            Typed one;
            one.got = *editor->read(std::to_string(i) + "> ", &one.line);
            if (one.got == Got::line) editor->remember(one.line);
            typed.push_back(one);
          }
        }) {}
  const std::vector<Typed>& done() {
    thread.join();
    return typed;
  }
  std::vector<Typed> typed;
  std::thread thread;
};

}  // namespace

TEST_CASE("editor: UTF-8 is edited by characters, history comes back, Ctrl-D ends") {
  Terminal terminal;
  client::Control control;
  Reading reading(terminal, control, 3);
  REQUIRE(terminal.shows("0> "));
  terminal.type(
      "h\xC3\xA9llo \xE6\x97\xA5\xF0\x9F\x98\x80\x7f!\r");  // the emoji is taken back as one character
  REQUIRE(terminal.shows("1> "));
  terminal.type("\x10\x01>\r");  // Ctrl-P: the line before; Ctrl-A: to its begin
  REQUIRE(terminal.shows("2> "));
  terminal.type("\x04");
  const auto& typed = reading.done();
  CHECK((typed[0].got == Got::line && typed[0].line == "h\xC3\xA9llo \xE6\x97\xA5!"));
  CHECK((typed[1].got == Got::line && typed[1].line == ">h\xC3\xA9llo \xE6\x97\xA5!"));
  CHECK(typed[2].got == Got::end);
}

TEST_CASE("editor: an interrupt clears the line and the next one is read") {
  Terminal terminal;
  client::Control control;
  Reading reading(terminal, control, 2);
  REQUIRE(terminal.shows("0> "));
  terminal.type("half a li");
  REQUIRE(terminal.shows("half a li"));
  control.interrupt();
  REQUIRE(terminal.shows("1> "));
  terminal.type("whole\r");
  const auto& typed = reading.done();
  CHECK(typed[0].got == Got::interrupted);
  CHECK((typed[1].got == Got::line && typed[1].line == "whole"));
}

TEST_CASE("editor: a wish to end wakes it") {
  Terminal terminal;
  client::Control control;
  Reading reading(terminal, control, 1);
  REQUIRE(terminal.shows("0> "));
  control.drain(1000);
  CHECK(reading.done()[0].got == Got::end);
}

TEST_CASE("screen: a terminal gets colours and no control characters, a pipe neither") {
  Terminal terminal;
  unsetenv("NO_COLOR");
  std::vector<std::string> logged;
  stdio::Screen screen(terminal.device, [&](const std::string& line) { logged.push_back(line); });
  REQUIRE(screen.terminal());
  CHECK(
      screen.answer("a\x1b[31mb\x07\xC2\x9B"
                    "31m\tc"));
  CHECK(screen.end_line());
  CHECK(screen.end_line());  // only one
  CHECK(screen.notice("seen"));
  CHECK(screen.problem("wrong"));
  CHECK(screen.reasoning("hm"));
  CHECK(screen.line("end"));
  REQUIRE(terminal.shows("end"));
  CHECK(terminal.shown.find(
            "a[31mb31m\tc\r\n\x1b[2mseen\x1b[0m\r\n\x1b[31mwrong\x1b[0m\r\n\x1b[2mhm\x1b[0mend") == 0);
  CHECK(logged.empty());

  int ends[2];
  REQUIRE(pipe(ends) == 0);
  stdio::Screen plain(ends[1], [&](const std::string& line) { logged.push_back(line); });
  CHECK(plain.notice("seen"));
  CHECK(plain.reasoning("hm"));
  CHECK(plain.line("end"));
  char buffer[64];
  CHECK(std::string(buffer, static_cast<size_t>(read(ends[0], buffer, sizeof(buffer)))) == "end\n");
  CHECK(logged == std::vector<std::string>{"seen"});
  close(ends[0]);
  close(ends[1]);
}
