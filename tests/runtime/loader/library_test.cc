// Loading: what is refused inside dlopen and after it, and that plugins do not touch each other.
// Thread rule: one thread. Flow: Library over files as a build or a fault leaves them. What is loaded stays
// in this process, so tests load copies of their own.
#include "loader/library.h"

#include <dlfcn.h>

#include "loader/part_instance.h"
#include "support.h"

using namespace mortise;
using namespace mortise::test;
using Catch::Matchers::Contains;

// The test program has a `helper` too, as have the plugins `good` and `other`.
__attribute__((visibility("default"))) int helper() { return 3; }

namespace {

struct FaultTable {
  uint32_t size;
  int (*helper)();
  int64_t (*level)(void* self);
};

std::string load_error(const std::string& path) {
  const auto loaded = load_plugin(accepted(path), host_offer());
  if (loaded) return "";
  CHECK(loaded.error().where == path);
  return loaded.error().message;
}

Result<PartInstance> make(const std::string& path, const std::string& name, int64_t level) {
  MORTISE_TRY(plugin, load_plugin(accepted(path), host_offer()));
  const LoadedPart* part = plugin->find("sampler", name);
  REQUIRE(part != nullptr);
  std::vector<Value> values(part->params.list.size());
  if (!values.empty()) values[0] = Value{MORTISE_INT, true, level, 0, "", {}, {}, ""};
  return PartInstance::create(*plugin, *part, nullptr, Values(std::move(values)));
}

}  // namespace

TEST_CASE("loader library: instances are made with their values, any number of times") {
  const auto one = make(fault("good"), "good", 1);
  const auto two = make(fault("good"), "good", 2);
  REQUIRE((one && two));
  CHECK(one->name() == "sampler:good");
  CHECK(one->table<FaultTable>().level(one->self()) == 1);
  CHECK(two->table<FaultTable>().level(two->self()) == 2);
}

// cfg-05 of the cases: each plugin and the host call their own.
TEST_CASE("loader library: visible symbols of one name do not meet") {
  const auto good = make(fault("good"), "good", 1);
  const auto other = make(fault("other"), "other", 1);
  REQUIRE((good && other));
  CHECK(good->table<FaultTable>().helper() == 1);
  CHECK(other->table<FaultTable>().helper() == 2);
  CHECK(helper() == 3);
}

TEST_CASE("loader library: an error of create names plugin and part") {
  const auto made = make(fault("good"), "good", 7);
  REQUIRE_FALSE(made.has_value());
  CHECK(made.error().code == Code::unsupported);
  CHECK(made.error().text() ==
        "sampler:good: level 7 is not to be had; take another (plugin fault.good 1.0)");
}

TEST_CASE("loader library: an exception out of create becomes an error") {
  const auto made = make(fault("throws"), "throws", 0);
  REQUIRE_FALSE(made.has_value());
  CHECK(made.error().code == Code::internal);
  CHECK_THAT(made.error().text(), Contains("thrown on purpose") && Contains("fault.throws"));
}

// cfg-02 of the cases; the files that are no plugins are in the tests of the catalog and of the command.
TEST_CASE("loader library: what is missing is named") {
  CHECK_THAT(load_error(fault("missing_symbol")), Contains("undefined symbol: nobody_defines_this"));
  CHECK_THAT(load_error(fault("missing_library")), Contains("libmortise_gone.so"));
  CHECK_THAT(load_error(fault("no_entry")), Contains("mortise_plugin_v1"));
}

TEST_CASE("loader library: the descriptor must say what the manifest says") {
  CHECK_THAT(load_error(fault("other_version")), Contains("'2.0'") && Contains("'1.0'"));
  CHECK_THAT(load_error(fault("bad_range")), Contains("'level'") && Contains("[10,0]"));
}

TEST_CASE("loader library: a file is loaded once, under any name") {
  const Folder folder;
  const std::string path = folder.copy(fault("good"), "a.so");
  fs::create_hard_link(path, folder.file("b.so"));
  const auto one = load_plugin(accepted(path), host_offer());
  const auto two = load_plugin(accepted(folder.file("b.so")), host_offer());
  REQUIRE((one && two));
  CHECK(*one == *two);
}

TEST_CASE("loader library: a file that changed after the check is refused") {
  const Folder folder;
  const std::string path = folder.copy(fault("good"), "a.so");
  const PluginFile checked = accepted(path);
  folder.copy(fault("other"), "b.so");
  fs::rename(folder.file("b.so"), path);
  const auto loaded = load_plugin(checked, host_offer());
  REQUIRE_FALSE(loaded.has_value());
  CHECK_THAT(loaded.error().message, Contains("changed while it was being loaded"));
}

TEST_CASE("loader library: a path that is loaded does not answer for a new file") {
  const Folder folder;
  const std::string path = folder.copy(fault("good"), "a.so");
  REQUIRE(load_plugin(accepted(path), host_offer()).has_value());
  folder.copy(fault("other"), "b.so");
  fs::rename(folder.file("b.so"), path);
  const auto loaded = load_plugin(accepted(path), host_offer());
  REQUIRE_FALSE(loaded.has_value());
  CHECK_THAT(loaded.error().message, Contains("start the process again"));
}

TEST_CASE("loader library: private libraries stand beside the plugin and obey the path policy") {
  const Folder folder;
  const std::string path = folder.copy(fault("private_library"), "a.so");
  CHECK_THAT(load_error(path), Contains("libmortise_gone.so: no such file"));
  const std::string lib = folder.copy(MORTISE_FAULTS "/gone/libmortise_gone.so", "libmortise_gone.so");
  fs::permissions(lib, fs::perms::group_write, fs::perm_options::add);
  CHECK_THAT(load_error(path), Contains("libmortise_gone.so: the file is writable"));
  fs::permissions(lib, fs::perms::group_write, fs::perm_options::remove);
  const auto loaded = load_plugin(accepted(path), host_offer());
  REQUIRE(loaded.has_value());
  const auto handle = open_private_library(**loaded, "libmortise_gone.so");
  REQUIRE(handle.has_value());
  CHECK(::dlsym(*handle, "gone_call") != nullptr);
  CHECK_FALSE(open_private_library(**loaded, "libc.so.6").has_value());
}
