// The host table, called as a plugin calls it.
// Thread rule: starts threads through the table. Flow: tests of runtime/host/table.
#include "host/table.h"

#include <signal.h>

#include <catch2/catch.hpp>
#include <stdexcept>

#include "temporary_folder.h"

using namespace mortise;

namespace {

struct Fixture {
  std::FILE* out = std::tmpfile();
  Log log{MORTISE_LOG_INFO, out};
  std::unique_ptr<Pool> pool = std::move(*Pool::make(2));
  MappedFiles files;
  HostServices services;
  Fixture() {
    services.log = &log;
    services.pool = pool.get();
    services.files = &files;
  }
  ~Fixture() { std::fclose(out); }
};

}  // namespace

TEST_CASE("host table: log, clock, memory, pool and processor features") {
  Fixture fixture;
  HostTable table(fixture.services, "acme", false);
  const mortise_host* host = table.get();
  CHECK(host->size == sizeof(mortise_host));
  CHECK(host->abi == MORTISE_ABI);
  CHECK(host->workers == 2);
  host->log(host->ctx, MORTISE_LOG_INFO, str("hello"));
  char line[64] = {};
  std::rewind(fixture.out);
  REQUIRE(std::fgets(line, sizeof(line), fixture.out) != nullptr);
  CHECK(std::string(line) == "mortise: info: acme: hello\n");

  const uint64_t early = host->now_ns(host->ctx);
  CHECK(early <= host->now_ns(host->ctx));
  void* memory = host->alloc(host->ctx, nullptr, 100, 256);
  CHECK(reinterpret_cast<uintptr_t>(memory) % 256 == 0);
  host->free_(host->ctx, nullptr, memory);
  const mortise_place elsewhere{sizeof(mortise_place), 0, "cuda", nullptr};
  CHECK(host->alloc(host->ctx, &elsewhere, 100, 64) == nullptr);

  std::atomic<int> runs{0};
  host->parallel(
      host->ctx, 9, [](void* arg, uint32_t, uint32_t) { ++*static_cast<std::atomic<int>*>(arg); }, &runs);
  CHECK(runs == 9);
  CHECK(host->has_isa(host->ctx, str("no such feature")) == 0);
}

TEST_CASE("host table: files by handle, and errors through the C struct") {
  Fixture fixture;
  TemporaryFolder folder;
  HostTable one(fixture.services, "one", false), two(fixture.services, "two", false);
  const std::string path = folder.write("w", "weights");
  uint32_t file = 99, again = 98;
  mortise_bytes bytes{}, same{};
  mortise_error error = c_error();
  CHECK(one.get()->map_file(one.get()->ctx, str(path), &file, &bytes, &error) == MORTISE_OK);
  CHECK(two.get()->map_file(two.get()->ctx, str(path), &again, &same, nullptr) == MORTISE_OK);
  CHECK((file == 0 && again == 0 && bytes.data == same.data && bytes.size == 7));
  CHECK(one.get()->map_file(one.get()->ctx, str("/nowhere"), &file, &bytes, &error) == MORTISE_NOT_FOUND);
  CHECK(std::string(error.where) == "/nowhere");
}

TEST_CASE("host table: services by id and libraries by the loader's rule") {
  Fixture fixture;
  const int engine = 0;
  fixture.services.interfaces["mortise.draft.engine/1"] = &engine;
  HostTable table(fixture.services, "acme", false);
  const mortise_host* host = table.get();
  CHECK(host->service(host->ctx, str("mortise.draft.engine/1")) == &engine);
  CHECK(host->service(host->ctx, str("mortise.draft.engine/2")) == nullptr);

  void* handle = nullptr;
  mortise_error error = c_error();
  CHECK(host->open_library(host->ctx, str("libx.so"), &handle, &error) == MORTISE_UNSUPPORTED);
  fixture.services.open_library = [&](std::string_view plugin, std::string_view name) -> Result<void*> {
    if (name == "throws") throw std::runtime_error("boom");
    CHECK(plugin == "acme");
    return &fixture;
  };
  CHECK(host->open_library(host->ctx, str("libx.so"), &handle, &error) == MORTISE_OK);
  CHECK(handle == &fixture);
  CHECK(host->open_library(host->ctx, str("throws"), &handle, &error) == MORTISE_INTERNAL);
  CHECK(std::string(error.message) == "exception: boom");
}

TEST_CASE("host table: threads of front ends, joined or waited for") {
  Fixture fixture;
  std::atomic<int> runs{0};
  const auto run = [](void* arg) {
    sigset_t blocked;
    pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
    const bool right = sigismember(&blocked, SIGINT) == 1 && sigismember(&blocked, SIGSEGV) == 0;
    *static_cast<std::atomic<int>*>(arg) += right ? 1 : 100;
  };
  mortise_error error = c_error();
  {
    HostTable table(fixture.services, "acme", true);
    const mortise_host* host = table.get();
    void* threads[kSpawnedThreadsMax] = {};
    for (void*& thread : threads)
      REQUIRE(host->spawn(host->ctx, str("a long name of a thread"), run, &runs, &thread, &error) ==
              MORTISE_OK);
    void* more = nullptr;
    CHECK(host->spawn(host->ctx, str("x"), run, &runs, &more, &error) == MORTISE_LIMIT);
    host->join(host->ctx, threads[5]);
    host->join(host->ctx, threads[5]);  // a stale handle is ignored
    CHECK(host->spawn(host->ctx, str("x"), run, &runs, &more, &error) == MORTISE_OK);
  }
  CHECK(runs == kSpawnedThreadsMax + 1);
  sigset_t own;
  pthread_sigmask(SIG_SETMASK, nullptr, &own);
  CHECK(sigismember(&own, SIGINT) == 0);

  HostTable kernel(fixture.services, "kernel", false);
  void* thread = nullptr;
  CHECK(kernel.get()->spawn(kernel.get()->ctx, str("x"), run, &runs, &thread, &error) == MORTISE_UNSUPPORTED);
}
