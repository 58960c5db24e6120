// Log lines and the progress bar, on files and on a pseudo-terminal.
// Thread rule: single-threaded. Flow: tests of runtime/host/log and progress.
#include "host/log.h"

#include <fcntl.h>
#include <pty.h>
#include <termios.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "host/progress.h"
#include "temporary_folder.h"

using namespace mortise;

namespace {

/// A stream whose text can be read back: a file, or a terminal.
struct Screen {
  explicit Screen(bool terminal) {
    if (terminal) {
      int other = -1;
      REQUIRE(openpty(&reader, &other, nullptr, nullptr, nullptr) == 0);
      termios mode{};
      tcgetattr(other, &mode);
      cfmakeraw(&mode);
      tcsetattr(other, TCSANOW, &mode);
      fcntl(reader, F_SETFL, O_NONBLOCK);
      out = fdopen(other, "w");
    } else {
      out = std::tmpfile();
      reader = dup(fileno(out));
    }
    REQUIRE(out != nullptr);
  }
  ~Screen() {
    std::fclose(out);
    close(reader);
  }
  std::string text() {
    std::fflush(out);
    if (isatty(fileno(out)) == 0) lseek(reader, 0, SEEK_SET);
    char buffer[8192];
    const ssize_t got = read(reader, buffer, sizeof(buffer));
    return got > 0 ? std::string(buffer, static_cast<size_t>(got)) : std::string();
  }
  std::FILE* out = nullptr;
  int reader = -1;
};

uint64_t fake_now = 0;
uint64_t fake_clock() { return fake_now; }

}  // namespace

TEST_CASE("log: one plain line per event from the level on") {
  Screen screen(false);
  Log log(MORTISE_LOG_WARNING, screen.out);
  log.info("not shown");
  log.warn("shown");
  log.write(MORTISE_LOG_ERROR, "acme", "two\nlines\x1b[31m {}");
  log.write(77, "", "an unknown level is an error");
  CHECK(screen.text() ==
        "mortise: warning: shown\n"
        "mortise: error: acme: two lines [31m {}\n"
        "mortise: error: an unknown level is an error\n");
}

TEST_CASE("log: a long line is cut") {
  Screen screen(false);
  Log log(MORTISE_LOG_DEBUG, screen.out);
  log.debug(std::string(3 * kLogLineBytesMax, 'x'));
  CHECK(screen.text().size() == std::string("mortise: debug: \n").size() + kLogLineBytesMax);
}

TEST_CASE("log: colours on a terminal") {
  setenv("TERM", "xterm", 1);
  Screen screen(true);
  Log log(MORTISE_LOG_WARNING, screen.out);
  log.warn("shown");
  CHECK(screen.text().find("\x1b[") != std::string::npos);
}

TEST_CASE("log: a full disk loses the line and nothing else") {
  std::FILE* full = std::fopen("/dev/full", "w");
  REQUIRE(full != nullptr);
  Log log(MORTISE_LOG_WARNING, full);
  log.warn("lost");
  std::fclose(full);
}

TEST_CASE("progress: shown on a terminal after a second, erased at the end") {
  Screen screen(true);
  Screen lines(false);
  Log log(MORTISE_LOG_WARNING, lines.out);
  fake_now = 5'000'000'000;
  {
    Progress progress(log, "loading", 200, screen.out, fake_clock);
    fake_now += 900'000'000;
    progress.update(50);
    CHECK(screen.text().empty());
    fake_now += 200'000'000;
    progress.update(100);
    CHECK(screen.text() == "\rloading [###############...............]  50%");
    fake_now += 50'000'000;
    progress.update(150);
    CHECK(screen.text().empty());
    log.warn("the bar is cleared first");
    CHECK(screen.text() == "\r\033[K");
    fake_now += 100'000'000;
    progress.update(900);
    CHECK(screen.text() == "\rloading [##############################] 100%");
  }
  CHECK(screen.text() == "\r\033[K");
  log.warn("after the bar");
  CHECK(screen.text().empty());
}

TEST_CASE("progress: silent where nobody watches") {
  Screen screen(false);
  Log log(MORTISE_LOG_WARNING, screen.out);
  fake_now = 0;
  {
    Progress progress(log, "loading", 0, screen.out, fake_clock);
    fake_now = 9'000'000'000;
    progress.update(1);
  }
  CHECK(screen.text().empty());
}
