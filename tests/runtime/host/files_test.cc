// Mapped files: one mapping per file, clear refusals, pages let go.
// Thread rule: single-threaded. Flow: tests of runtime/host/files.
#include "host/files.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "temporary_folder.h"

using namespace mortise;

TEST_CASE("files: the same file under any name gives the same mapping") {
  TemporaryFolder folder;
  const std::string path = folder.write("a", "hello");
  std::filesystem::create_symlink(path, folder.path / "link");
  MappedFiles files;
  const auto first = files.map(path);
  REQUIRE(first);
  CHECK(std::string(reinterpret_cast<const char*>((*first)->data), (*first)->size_bytes) == "hello");
  CHECK(*files.map(path) == *first);
  CHECK(*files.map((folder.path / "link").string()) == *first);
  CHECK(*files.map((folder.path / "." / "a").string()) == *first);
  const auto other = files.map(folder.write("b", "hello"));
  REQUIRE(other);
  CHECK((*other)->file == 1);
  CHECK(files.find(1) == *other);
  CHECK(files.find(2) == nullptr);
}

TEST_CASE("files: a path stays what it was when the file is replaced") {
  TemporaryFolder folder;
  MappedFiles files;
  const auto first = files.map(folder.write("a", "old"));
  REQUIRE(first);
  std::filesystem::rename(folder.write("new", "new"), folder.path / "a");
  CHECK(*files.map((folder.path / "a").string()) == *first);
  CHECK((*first)->data[0] == 'o');
}

TEST_CASE("files: refusals say what is wrong") {
  TemporaryFolder folder;
  MappedFiles files;
  const auto message = [&](const std::string& path) {
    const auto mapped = files.map(path);
    REQUIRE_FALSE(mapped);
    return mapped.error();
  };
  CHECK(message((folder.path / "none").string()).code == Code::not_found);
  CHECK(message((folder.path / "none").string()).where == (folder.path / "none").string());
  CHECK(message(folder.path.string()).message == "is a directory; name a file");
  CHECK(message(folder.write("empty", "")).message == "is empty; fetch the file again");
  CHECK(message(folder.write("file", "x") + "/below").code == Code::not_found);
  CHECK(message("").code == Code::bad_argument);
  CHECK(message(std::string(5000, 'a')).code == Code::limit);
  CHECK(message(std::string("a\0b", 3)).code == Code::limit);
  CHECK(message("/dev/null").message == "is not a regular file; name one");
  REQUIRE(mkfifo((folder.path / "pipe").c_str(), 0600) == 0);
  CHECK(message((folder.path / "pipe").string()).message == "is not a regular file; name one");
  if (geteuid() != 0) {  // root may read everything
    const std::string closed = folder.write("closed", "x");
    chmod(closed.c_str(), 0);
    CHECK(message(closed).message == "permission denied; make the file readable for this user");
  }
}

TEST_CASE("files: release drops the whole pages of a range and no others") {
  TemporaryFolder folder;
  const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  MappedFiles files;
  const auto mapped = files.map(folder.write("a", std::string(8 * page, 'x')));
  REQUIRE(mapped);
  const auto* data = (*mapped)->data;
  const auto resident_kb = [&] {  // the mapping's own share of this process, not the page cache
    std::ifstream maps("/proc/self/smaps");
    bool here = false;
    for (std::string line; std::getline(maps, line);) {
      if (line.find((*mapped)->path) != std::string::npos) here = true;
      if (here && line.rfind("Rss:", 0) == 0) return std::stoul(line.substr(4));
    }
    return 0ul;
  };
  unsigned sum = 0;
  for (uint64_t i = 0; i < 8 * page; i += page) sum += data[i];
  REQUIRE(resident_kb() == 8 * page / 1024);
  files.release(0, page / 2, 3 * page);  // covers pages 1 and 2 and parts of 0 and 3
  CHECK(resident_kb() == 6 * page / 1024);
  files.release(0, 7 * page, UINT64_MAX);
  files.release(0, UINT64_MAX, 1);
  files.release(9, 0, page);
  CHECK(resident_kb() == 5 * page / 1024);
  CHECK(data[page] == 'x');
  CHECK(sum == 8 * 'x');
}
