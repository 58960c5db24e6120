// lines: a front end. Each line of standard input is a prompt, what the model adds to it is a line of output.
// Thread rule: run on the front end's own thread; drain and stop on the main one, which set a flag that run
// looks at. Flow: line -> encode -> submit -> events until the terminal one -> the next line.
#include <mortise/cpp/part.h>
#include <mortise/frontend.h>
#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <string>
#include <vector>

namespace {

using mortise::Code;
using mortise::Result;

constexpr size_t kLineBytesMax = 1 << 20;
constexpr int kLookMs = 50;  // how long a wait lasts before the stop flag is looked at

#define LINES_PARAMS(MORTISE_PARAM) \
  MORTISE_PARAM(string, mark, "\"\"", nullptr, config, "printed before each answer")
MORTISE_PARAMS(LinesParams, LINES_PARAMS);

class Lines {
 public:
  Lines(mortise::Host, const LinesParams& params) : mark_(params.mark.value) {}

  Result<void> run(const mortise_services& services) {
    if (services.text == nullptr)
      return mortise::fail(Code::bad_argument, "use.tokenizer",
                           "this front end needs text; name a tokenizer");
    const mortise_engine& engine = *services.engine;
    void* channel = nullptr;
    int32_t event_fd = -1;
    mortise_error error = mortise::c_error();
    if (const auto status = engine.open_channel(engine.ctx, &channel, &event_fd, &error))
      return mortise::pass(mortise::from_c(status, error));
    Result<void> done;
    std::string line;
    while (done && !stopping_ && next_line(&line)) done = answer(engine, *services.text, channel, line);
    engine.close_channel(engine.ctx, channel);
    return done;
  }

  void stop() { stopping_ = true; }

 private:
  // False at the end of input, after stop, and for a line that is too long.
  bool next_line(std::string* line) {
    size_t end;
    while ((end = input_.find('\n')) == std::string::npos) {
      if (stopping_ || input_.size() > kLineBytesMax) return false;
      pollfd input{STDIN_FILENO, POLLIN, 0};
      if (poll(&input, 1, kLookMs) <= 0) continue;
      char bytes[4096];
      const ssize_t count = read(STDIN_FILENO, bytes, sizeof(bytes));
      if (count <= 0) {
        if (input_.empty()) return false;
        input_ += '\n';  // the last line may lack its end
        continue;
      }
      input_.append(bytes, static_cast<size_t>(count));
    }
    *line = input_.substr(0, end);
    input_.erase(0, end + 1);
    return true;
  }

  Result<void> answer(const mortise_engine& engine, const mortise_text& text, void* channel,
                      const std::string& line) {
    MORTISE_TRY(prompt, encode(text, line));
    if (prompt.empty()) return {};
    mortise_request request{};
    request.size = sizeof(request);
    request.flags = MORTISE_REQUEST_WAIT;
    request.prompt = prompt.data();
    request.prompt_count = prompt.size();
    uint64_t id = 0;
    mortise_error error = mortise::c_error();
    if (const auto status = engine.submit(engine.ctx, channel, &request, &id, &error))
      return mortise::pass(mortise::from_c(status, error));
    std::fputs(mark_.c_str(), stdout);
    for (;;) {
      if (stopping_) engine.cancel(engine.ctx, id);
      mortise_event event{};
      event.size = sizeof(event);
      const int32_t got = engine.next_event(engine.ctx, channel, kLookMs, &event);
      if (got < 0) return mortise::fail(Code::cancelled, "", "the engine closed the channel");
      if (got == 0) continue;
      std::fwrite(event.text.data, 1, event.text.size, stdout);
      std::fflush(stdout);
      if (event.type == MORTISE_EVENT_ERROR)
        return mortise::fail(static_cast<Code>(event.error_code),
                             std::string(mortise::view(event.error_where)),
                             std::string(mortise::view(event.error_message)));
      if (event.type == MORTISE_EVENT_DONE) break;
    }
    std::fputc('\n', stdout);
    std::fflush(stdout);
    return {};
  }

  static Result<std::vector<uint32_t>> encode(const mortise_text& text, const std::string& line) {
    const mortise_span span{line.data(), line.size(), 0, 0};
    std::vector<uint32_t> ids(line.size() +
                              8);  // a token stands for a byte at least; BOS and the like on top
    size_t count = 0;
    mortise_error error = mortise::c_error();
    if (const auto status = text.encode(text.ctx, &span, 1, 1, ids.data(), ids.size(), &count, &error))
      return mortise::pass(mortise::from_c(status, error));
    ids.resize(count);
    return ids;
  }

  const std::string mark_;
  std::string input_;
  std::atomic<bool> stopping_{false};
};

Lines& self_of(void* self) { return *static_cast<Lines*>(self); }

constexpr mortise_frontend kTable = {sizeof(mortise_frontend),
                                     0,
                                     [](void*) -> uint32_t { return MORTISE_NEEDS_ENGINE; },
                                     nullptr,
                                     [](void* self, const mortise_services* services, mortise_error* error) {
                                       return mortise::guard(error,
                                                             [&] { return self_of(self).run(*services); });
                                     },
                                     [](void* self, uint32_t) { self_of(self).stop(); },
                                     [](void* self) { self_of(self).stop(); },
                                     nullptr,
                                     0};

constexpr mortise_part kPart = mortise::make_part<Lines, LinesParams>(
    "frontend", "lines", MORTISE_FRONTEND_ID, "continues each line of input", &kTable);

}  // namespace

MORTISE_PLUGIN("example.lines", "0.1.0", "Apache-2.0",
               MORTISE_FRONTEND_ID " " MORTISE_ENGINE_ID " " MORTISE_TEXT_ID, "frontend:lines", "", &kPart);
