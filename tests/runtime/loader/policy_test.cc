// Path policy: whose files the host opens, and what kinds of file.
// Thread rule: one thread. Flow: a file with certain rights -> opened or refused.
#include "loader/policy.h"

#include <sys/stat.h>
#include <unistd.h>

#include "support.h"

using namespace mortise;
using namespace mortise::test;
using Catch::Matchers::Contains;

namespace {

std::string reason(const std::string& path) {
  const auto file = open_checked(path);
  return file ? "" : file.error().message;
}

void set_mode(const std::string& path, mode_t mode) { REQUIRE(::chmod(path.c_str(), mode) == 0); }

}  // namespace

TEST_CASE("loader policy: files that others may write are refused") {
  const Folder folder;
  const std::string file = folder.write("x.so", "x");
  CHECK(reason(file) == "");
  set_mode(file, 0664);
  CHECK_THAT(reason(file), Contains("the file is writable by its group"));
  set_mode(file, 0646);
  CHECK_THAT(reason(file), Contains("the file is writable by everybody"));
}

TEST_CASE("loader policy: folders that others may write are refused unless sticky") {
  const Folder folder;
  const std::string file = folder.write("x.so", "x");
  set_mode(folder.path(), 0775);
  CHECK_THAT(reason(file), Contains("writable by its group") && Contains(folder.path()));
  set_mode(folder.path(), 0757);
  CHECK_THAT(reason(file), Contains("writable by everybody"));
  set_mode(folder.path(), 01777);
  CHECK(reason(file) == "");
}

TEST_CASE("loader policy: the rights of a link's folder and of its target's folder both count") {
  const Folder from, to;
  const std::string target = to.write("y.so", "y");
  const std::string link = from.file("x.so");
  fs::create_symlink(target, link);
  const auto file = open_checked(link);
  REQUIRE(file.has_value());
  CHECK(file->path == target);
  set_mode(to.path(), 0777);
  CHECK_THAT(reason(link), Contains("writable"));
  set_mode(to.path(), 0700);
  set_mode(from.path(), 0777);
  CHECK_THAT(reason(link), Contains("writable"));
}

TEST_CASE("loader policy: a foreign owner is refused") {
  if (::geteuid() != 0) return;  // only root can give a file away
  const Folder folder;
  const std::string file = folder.write("x.so", "x");
  REQUIRE(::chown(file.c_str(), 12345, 12345) == 0);
  CHECK_THAT(reason(file), Contains("writable by its owner, user 12345"));
  REQUIRE(::chown(file.c_str(), 0, 0) == 0);
  REQUIRE(::chown(folder.path().c_str(), 12345, 12345) == 0);
  CHECK_THAT(reason(file), Contains("writable by its owner, user 12345"));
}

TEST_CASE("loader policy: only regular files are opened") {
  const Folder folder;
  fs::create_directory(folder.file("d.so"));
  CHECK_THAT(reason(folder.file("d.so")), Contains("a directory"));
  fs::create_symlink("nowhere", folder.file("l.so"));
  CHECK_THAT(reason(folder.file("l.so")), Contains("a link that leads to no file"));
  fs::create_symlink("r.so", folder.file("r.so"));
  CHECK_THAT(reason(folder.file("r.so")), Contains("cannot be reached"));
  REQUIRE(::mkfifo(folder.file("f.so").c_str(), 0600) == 0);
  CHECK_THAT(reason(folder.file("f.so")), Contains("not a regular file"));
  CHECK_THAT(reason(folder.file("none.so")), Contains("no such file"));
}

TEST_CASE("loader policy: a file's identity changes when it is replaced or rewritten") {
  const Folder folder;
  const auto before = identify(folder.write("x.so", "one"));
  folder.write("y.so", "one");
  fs::rename(folder.file("y.so"), folder.file("x.so"));
  const auto replaced = identify(folder.file("x.so"));
  folder.write("x.so", "three");
  const auto rewritten = identify(folder.file("x.so"));
  REQUIRE((before && replaced && rewritten));
  CHECK_FALSE(*before == *replaced);
  CHECK_FALSE(before->same_file(*replaced));
  CHECK_FALSE(*replaced == *rewritten);
  CHECK(replaced->same_file(*rewritten));
}
