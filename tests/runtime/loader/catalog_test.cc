// The catalog: which file gives a part where several could.
// Thread rule: one thread. Flow: folders of plugins -> names and refusals.
#include "loader/catalog.h"

#include <unistd.h>

#include <algorithm>

#include "support.h"

using namespace mortise;
using namespace mortise::test;
using Catch::Matchers::Contains;

namespace {

Catalog scan(const std::vector<std::string>& folders) {
  std::vector<PluginFolder> named;
  for (const std::string& folder : folders) named.push_back(PluginFolder{folder, "--plugins"});
  auto catalog = scan_plugins(named, host_offer());
  REQUIRE(catalog.has_value());
  return std::move(*catalog);
}

std::string reason(const Catalog& catalog, const std::string& path) {
  const auto found = std::find_if(catalog.refused.begin(), catalog.refused.end(),
                                  [&path](const Refusal& refusal) { return refusal.path == path; });
  return found == catalog.refused.end() ? "" : found->reason;
}

}  // namespace

TEST_CASE("loader catalog: parts are found by kind and name") {
  const Folder folder;
  const std::string good = folder.copy(fault("good"), "a.so");
  folder.copy(fault("other"), "b.so");
  folder.write("c.txt", "not looked at");
  const Catalog catalog = scan({folder.path()});
  CHECK(catalog.refused.empty());
  REQUIRE(catalog.find("sampler", "good") != nullptr);
  CHECK(catalog.find("sampler", "good")->path == good);
  CHECK(catalog.find("sampler", "none") == nullptr);
  CHECK(catalog.find("chat", "good") == nullptr);
  CHECK(catalog.names("sampler") == std::vector<std::string>{"good", "other"});
}

TEST_CASE("loader catalog: an earlier folder shadows a later one, and says so") {
  const Folder first, second;
  const std::string wins = first.copy(fault("again"), "z.so");
  const std::string loses = second.copy(fault("good"), "a.so");
  second.copy(fault("other"), "b.so");
  const Catalog catalog = scan({first.path(), second.path()});
  CHECK(catalog.find("sampler", "good")->path == wins);
  CHECK(catalog.find("sampler", "other") != nullptr);
  CHECK_THAT(reason(catalog, loses), Contains("sampler:good is shadowed by " + wins));
  CHECK(scan({second.path(), first.path()}).find("sampler", "good")->path == loses);
}

TEST_CASE("loader catalog: the same name twice in one folder refuses both") {
  const Folder folder;
  const std::string one = folder.copy(fault("good"), "a.so");
  const std::string two = folder.copy(fault("again"), "b.so");
  const Catalog catalog = scan({folder.path()});
  CHECK(catalog.files.empty());
  CHECK_THAT(reason(catalog, one), Contains("offered twice") && Contains("b.so"));
  CHECK_THAT(reason(catalog, two), Contains("offered twice") && Contains("a.so"));
}

TEST_CASE("loader catalog: one file under two names counts once") {
  const Folder folder;
  const std::string one = folder.copy(fault("good"), "a.so");
  fs::create_symlink("a.so", folder.file("b.so"));
  const Catalog catalog = scan({folder.path(), folder.path() + "/."});
  CHECK(catalog.files.size() == 1);
  REQUIRE(catalog.refused.size() == 1);
  CHECK(catalog.refused[0].path == folder.file("b.so"));
  CHECK_THAT(catalog.refused[0].reason, Contains("same file as " + one));
}

TEST_CASE("loader catalog: a refused file neither stops the others nor takes a name") {
  const Folder first, second;
  const std::string bad = first.write("a.so", read_bytes(fault("good")).substr(0, 5000));
  const std::string good = second.copy(fault("good"), "a.so");
  const Catalog catalog = scan({first.path(), second.path()});
  CHECK_THAT(reason(catalog, bad), Contains("truncated"));
  CHECK(catalog.find("sampler", "good")->path == good);
}

TEST_CASE("loader catalog: folders that cannot be listed") {
  const auto option = scan_plugins({{"/nonexistent/folder", "--plugins"}}, host_offer());
  REQUIRE_FALSE(option.has_value());
  CHECK(option.error().code == Code::bad_argument);
  CHECK(option.error().where == "--plugins /nonexistent/folder");
  const auto variable = scan_plugins({{"/nonexistent/folder", "MORTISE_PLUGINS"}}, host_offer());
  REQUIRE(variable.has_value());
  CHECK_THAT(reason(*variable, "/nonexistent/folder"), Contains("MORTISE_PLUGINS"));
  const auto own = scan_plugins({{"/nonexistent/folder", "own tree"}}, host_offer());
  REQUIRE(own.has_value());
  CHECK(own->refused.empty());
}

TEST_CASE("loader catalog: the order is options, variable, own tree, and an empty entry is no folder") {
  REQUIRE(::setenv("MORTISE_PLUGINS", "/one::/two:", 1) == 0);
  const auto folders = plugin_folders({"/zero"});
  ::unsetenv("MORTISE_PLUGINS");
  REQUIRE(folders.has_value());
  std::vector<std::string> paths;
  for (const PluginFolder& folder : *folders) paths.push_back(folder.path);
  REQUIRE(paths.size() == 4);
  CHECK(std::vector<std::string>(paths.begin(), paths.begin() + 3) ==
        std::vector<std::string>{"/zero", "/one", "/two"});
  CHECK(fs::path(paths[3]) == fs::path(*host_binary()).parent_path().parent_path() / "lib" / "mortise");
}
