// Mode "text".
// Thread rule: see text.h. Flow: see text.h.
#include "text.h"

#include <poll.h>
#include <unistd.h>

#include "client/text.h"
#include "json/json.h"
#include "turn.h"

namespace mortise::stdio {
namespace {

Result<std::string> read_all(int in, const client::Control& control) {
  std::string text;
  while (true) {
    pollfd fds[] = {{in, POLLIN, 0}, {control.wake_fd(), POLLIN, 0}};
    poll(fds, 2, -1);
    if (fds[1].revents != 0) return fail(Code::cancelled, "", "interrupted before the question was read");
    char buffer[65536];
    const ssize_t got = read(in, buffer, sizeof(buffer));
    if (got < 0) return fail(Code::io, "standard input", "cannot be read; pass the question as an argument");
    if (got == 0) return text;
    text.append(buffer, static_cast<size_t>(got));
    if (text.size() > client::kLineBytesMax)
      return fail(Code::limit, "standard input",
                  "is over " + std::to_string(client::kLineBytesMax) + " bytes; send less");
  }
}

Result<std::string> question(const mortise_services& services, int in, const client::Control& control) {
  std::string text;
  for (uint32_t i = 0; i < services.argument_count; ++i)
    text.append(i == 0 ? "" : " ").append(view(services.arguments[i]));
  if (services.argument_count == 0) {
    MORTISE_TRY(read, read_all(in, control));
    text = std::move(read);
    if (!text.empty() && text.back() == '\n') text.pop_back();
  }
  if (text.empty())
    return fail(Code::bad_argument, "question", "is empty; pass it as an argument or on standard input");
  return text;
}

}  // namespace

Result<void> run_text(const mortise_services& services, const TextOptions& options, client::Control& control,
                      int in, Screen& screen) {
  MORTISE_TRY(asked, question(services, in, control));
  const client::Text text(services.text);
  Turn turn;
  if (text.has_template()) {
    json::Value request;
    if (!options.system.empty())
      request["messages"].push_back({{"role", "system"}, {"content", options.system}});
    request["messages"].push_back({{"role", "user"}, {"content", asked}});
    turn.chat_request = json::dump(request);
  }
  MORTISE_TRY(prompt, turn.chat_request.empty() ? text.encode_prompt(asked) : text.render(turn.chat_request));
  turn.prompt = std::move(prompt);
  MORTISE_TRY(channel, client::Channel::open(services.engine));
  MORTISE_TRY(outcome, answer(services, *channel, control, turn, screen));
  if (outcome.cancelled) return fail(Code::cancelled, "", "interrupted before the answer was complete");
  return options.stats ? screen.line("\n[" + outcome.figures() + "]") : Result<void>();
}

}  // namespace mortise::stdio
