// The probe; see probe.h. Thread rule: [main], single-threaded. Flow: fork, load in the child, report by pipe
// as JSON.
#include "loader/probe.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "config/raw_json.h"
#include "loader/library.h"

namespace mortise {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

constexpr size_t kReportDepthMax = 72;  // a default of type JSON nests up to kMaxJsonDepth

Json report(const PluginFile& file, const HostOffer& offer) {
  const auto plugin = load_plugin(file, offer);
  if (!plugin) return Json{{"error", plugin.error().message}};
  Json parts = Json::array();
  for (const LoadedPart& loaded : (*plugin)->parts) {
    Json part;
    part["kind"] = loaded.part->kind;
    part["name"] = loaded.part->name;
    part["parameters"] = describe_params(loaded.params);
    parts.push_back(std::move(part));
  }
  Json out;
  out["parts"] = std::move(parts);
  return out;
}

// The child's whole life. It leaves by _exit: what the host registered at exit is not its business.
[[noreturn]] void run_child(const PluginFile& file, const HostOffer& offer, int pipe_out) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::prctl(PR_SET_DUMPABLE, 0);  // no core file
  // A crash must end the child by its signal: handlers of the host (a sanitizer has some) would hide which.
  for (const int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP}) std::signal(signal, SIG_DFL);
  const int null = ::open("/dev/null", O_RDWR);
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(null, fd);
  const std::string text = report(file, offer).dump(-1, ' ', false, Json::error_handler_t::replace);
  size_t done = 0;
  while (done < text.size()) {
    const ssize_t n = ::write(pipe_out, text.data() + done, text.size() - done);
    if (n <= 0 && errno != EINTR) break;
    if (n > 0) done += static_cast<size_t>(n);
  }
  ::_exit(0);
}

struct Report {
  std::string text;
  bool timed_out = false;
  bool too_long = false;
};

Report read_report(int fd, std::chrono::milliseconds timeout) {
  const Clock::time_point end = Clock::now() + timeout;
  Report out;
  char buffer[4096];
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
    pollfd ready{fd, POLLIN, 0};
    const int polled = left > 0 ? ::poll(&ready, 1, static_cast<int>(left)) : 0;
    if (polled < 0 && errno == EINTR) continue;
    out.timed_out = polled <= 0;
    if (out.timed_out) return out;
    const ssize_t n = ::read(fd, buffer, sizeof(buffer));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return out;
    out.text.append(buffer, static_cast<size_t>(n));
    out.too_long = out.text.size() > kProbeReportBytesMax;
    if (out.too_long) return out;
  }
}

// Reaps the child. Its end of the pipe is closed or it is out of time: either way it has nothing left to do,
// and a kill does not change the status of one that is already ending.
int reap(pid_t child) {
  ::kill(child, SIGKILL);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

Result<std::vector<ProbedPart>> parse_report(const std::string& text, const std::string& path) {
  const auto damaged = [&path] { return fail(Code::bad_data, path, "its probe gave a damaged report"); };
  const Json report = Json::parse(text, nullptr, false);
  if (report.is_discarded() || !report.is_object() || !json_depth_within(report, kReportDepthMax))
    return damaged();
  if (report.contains("error") && report["error"].is_string()) {
    return fail(Code::bad_data, path, report["error"].get<std::string>());
  }
  if (!report.contains("parts") || !report["parts"].is_array()) return damaged();
  std::vector<ProbedPart> out;
  for (const Json& part : report["parts"]) {
    const bool whole = part.is_object() && part.contains("kind") && part["kind"].is_string() &&
                       part.contains("name") && part["name"].is_string() && part.contains("parameters") &&
                       part["parameters"].is_array();
    if (!whole) return damaged();
    out.push_back({part["kind"].get<std::string>(), part["name"].get<std::string>(), part["parameters"]});
  }
  return out;
}

Result<std::vector<ProbedPart>> judge(const Report& report, int status, std::chrono::milliseconds timeout,
                                      const std::string& path) {
  const auto bad = [&path](std::string message) { return fail(Code::bad_data, path, std::move(message)); };
  if (report.timed_out) {
    return bad(fmt::format("did not load within {} ms: a constructor of its hangs; see its author",
                           timeout.count()));
  }
  if (report.too_long)
    return bad(fmt::format("declares more than {} bytes of parameters", kProbeReportBytesMax));
  if (WIFSIGNALED(status) && (report.text.empty() || WTERMSIG(status) != SIGKILL)) {
    const char* name = ::sigabbrev_np(WTERMSIG(status));
    return bad(
        fmt::format("crashed while it was loaded (SIG{}): it is damaged, or a constructor of its fails",
                    name == nullptr ? "?" : name));
  }
  if (report.text.empty()) {
    return bad(fmt::format("ended the process while it was loaded (exit status {}); a plugin must not exit",
                           WEXITSTATUS(status)));
  }
  return parse_report(report.text, path);
}

}  // namespace

Result<std::vector<ProbedPart>> probe_plugin(const PluginFile& file, const HostOffer& offer,
                                             std::chrono::milliseconds timeout) {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return fail(Code::io, file.path, "no pipe for its probe; close some files");
  OpenFile in(ends[0]);
  OpenFile out(ends[1]);
  const pid_t child = ::fork();
  if (child < 0) return fail(Code::no_memory, file.path, "no process for its probe; end some processes");
  if (child == 0) run_child(file, offer, out.fd());
  { const OpenFile closed = std::move(out); }  // so that the end of the child ends the pipe
  const Report report = read_report(in.fd(), timeout);
  return judge(report, reap(child), timeout, file.path);
}

}  // namespace mortise
