// Front ends: threads and signals. Thread rule and flow: see frontends.h.
#include "engine/frontends.h"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>

#include "host/threads.h"

namespace mortise {
namespace {

const mortise_frontend& calls(const Provider* p) { return p->table<mortise_frontend>(); }

/// A descriptor that closes itself.
struct Descriptor {
  explicit Descriptor(int fd) : fd(fd) {}
  ~Descriptor() {
    if (fd >= 0) close(fd);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int fd;
};

/// Threads of the front ends, and the first error of theirs.
struct Running {
  std::mutex mutex;
  std::optional<Error> error;
  std::atomic<size_t> left{0};
  Descriptor done{eventfd(0, EFD_CLOEXEC)};
  std::vector<std::thread> threads;

  void start(const Provider* p, const mortise_services& services) {
    try {
      threads.push_back(start_thread(p->name, [this, p, &services] {
        mortise_error c = c_error();
        const mortise_status status = calls(p).run(p->self, &services, &c);
        end_one(status == MORTISE_OK ? std::nullopt : std::make_optional(p->error("frontend", status, c)));
      }));
    } catch (const std::system_error& e) {
      end_one(Error{Code::no_memory, "front end '" + p->name + "'",
                    "the system gives no thread (" + e.code().message() + "); raise its limit"});
    }
  }
  void end_one(std::optional<Error> why) {
    {
      std::lock_guard lock(mutex);
      if (why && !error) error = std::move(why);
    }
    --left;
    const uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = write(done.fd, &one, sizeof(one));
  }
  bool has_failed() {
    std::lock_guard lock(mutex);
    return error.has_value();
  }
};

/// True where a front end has taken care of the signal itself.
bool interrupted(const std::vector<const Provider*>& frontends, uint32_t signal) {
  bool taken = false;
  for (const Provider* p : frontends)
    if (signal == SIGINT && calls(p).interrupt != nullptr) taken = calls(p).interrupt(p->self) != 0 || taken;
  return taken;
}

}  // namespace

Result<std::vector<const Provider*>> select_frontends(Parts& parts, const Pipeline& pipeline) {
  std::vector<const Provider*> out;
  auto named = pipeline.use.find("frontend");
  if (named != pipeline.use.end()) {
    for (const Use& use : named->second) {
      MORTISE_TRY(provider, parts.use("frontend", use));
      parts.rows.push_back({"frontend", provider->name, provider->plugin, "named in " + use.where});
      out.push_back(provider);
    }
  } else {
    MORTISE_TRY(providers, parts.all("frontend"));
    const auto best = std::max_element(
        providers.begin(), providers.end(),
        [](const Provider& a, const Provider& b) { return calls(&a).suits < calls(&b).suits; });
    if (best != providers.end() && calls(&*best).suits > 0) {
      MORTISE_TRY(provider, parts.use("frontend", Use{best->name, best->name, pipeline.source}));
      parts.rows.push_back({"frontend", provider->name, provider->plugin, "no other is named"});
      out.push_back(provider);
    }
  }
  if (out.empty()) {
    std::string names;
    for (const std::string& name : parts.names("frontend")) names += (names.empty() ? "" : ", ") + name;
    return fail(Code::bad_argument, pipeline.source,
                "use.frontend: no front end is named; installed are " + names);
  }
  return out;
}

uint32_t frontend_needs(const std::vector<const Provider*>& frontends) {
  uint32_t out = MORTISE_NEEDS_NONE;
  for (const Provider* p : frontends) out = std::max(out, calls(p).needs(p->self));
  return out;
}

Result<void> check_frontends(const std::vector<const Provider*>& frontends) {
  for (const Provider* p : frontends) {
    if (calls(p).check == nullptr) continue;
    mortise_error error = c_error();
    const mortise_status status = calls(p).check(p->self, &error);
    if (status != MORTISE_OK) return pass(p->error("frontend", status, error));
  }
  return {};
}

Result<void> run_frontends(const std::vector<const Provider*>& frontends, const mortise_services& services) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  Descriptor arrived(signalfd(-1, &signals, SFD_CLOEXEC));
  Running running;
  if (arrived.fd < 0 || running.done.fd < 0)
    return fail(Code::io, "signals", std::string("no descriptor: ") + std::strerror(errno));
  running.left = frontends.size();
  running.threads.reserve(frontends.size());
  for (const Provider* p : frontends) running.start(p, services);
  bool is_draining = false;
  while (running.left > 0) {
    pollfd fds[] = {{running.done.fd, POLLIN, 0}, {arrived.fd, POLLIN, 0}};
    if (poll(fds, 2, -1) < 0 && errno != EINTR) break;
    if ((fds[0].revents & POLLIN) != 0) {
      uint64_t count;
      [[maybe_unused]] const ssize_t taken = read(running.done.fd, &count, sizeof(count));
      // The others would hide the error for as long as they run.
      if (running.has_failed() && !is_draining) {
        for (const Provider* p : frontends) calls(p).drain(p->self, kDrainMs);
        is_draining = true;
      }
    }
    if ((fds[1].revents & POLLIN) == 0) continue;
    signalfd_siginfo info;
    if (read(arrived.fd, &info, sizeof(info)) != sizeof(info)) continue;
    if (!is_draining && interrupted(frontends, info.ssi_signo)) continue;
    for (const Provider* p : frontends)
      is_draining ? calls(p).stop(p->self) : calls(p).drain(p->self, kDrainMs);
    // A front end that hangs must not keep a program alive that was told twice to end.
    if (is_draining) _exit(128 + static_cast<int>(info.ssi_signo));
    is_draining = true;
  }
  for (std::thread& thread : running.threads) thread.join();
  return running.error ? pass(*running.error) : Result<void>();
}

}  // namespace mortise
