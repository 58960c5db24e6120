// Hostile and odd TOML: depth, size, NUL, BOM, CRLF, encodings, duplicates; files that cannot be read.
// Thread rule: one thread. Flow: parse_toml, read_config_file, load_pipeline.
#include "config/toml_text.h"

#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>

#include "parse.h"

using namespace mortise;
namespace fs = std::filesystem;

namespace {

std::string repeated(const std::string& part, size_t count) {
  std::string out;
  for (size_t i = 0; i < count; ++i) out += part;
  return out;
}

/// A folder that goes away with the test.
struct TempFolder {
  TempFolder() {
    std::string name = (fs::temp_directory_path() / "mortise-config-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path = name;
  }
  ~TempFolder() { fs::remove_all(path); }
  fs::path write(const std::string& name, const std::string& text) const {
    std::ofstream(path / name, std::ios::binary) << text;
    return path / name;
  }
  fs::path path;
};

std::string load_error(const std::string& pipeline, const std::vector<fs::path>& folders = {}) {
  PipelineOptions options;
  options.pipeline = pipeline;
  options.config_folders = folders;
  const Result<Pipeline> loaded = load_pipeline(options);
  return loaded ? "no error" : loaded.error().text();
}

}  // namespace

TEST_CASE("toml: damaged text is one line with position") {
  const std::pair<std::string, const char*> rows[] = {
      {"a = ", "x.toml:1:"},
      {"[kv]\ndtype = \"a\"\ndtype = \"b\"\n", "x.toml:3:9: is not valid TOML: "},
      {"[kv]\n[kv]\n", "x.toml:2:"},
      {"é = 1", "x.toml:1:1"},
      {"a = \"\xff\"", "is not valid TOML"},
      {std::string("a = 1\0\nb = 2", 12), "x.toml:1:6"},
      {std::string("\xff\xfe"
                   "a\0",
                   4),
       "x.toml:1:1"},
      {"a = 99999999999999999999", "x.toml:1:"},
      {"a = \"é\" b", "x.toml:1:9"},
      {"a = \"\"\"x", "x.toml:1:"},
      {"[", "x.toml:1:"},
      {"a = \"\\q\"", "x.toml:1:"},
  };
  for (const auto& [text, error] : rows) {
    INFO(text << " -> " << error_of(text));
    CHECK(holds(error_of(text), error));
    CHECK(holds(error_of(text), "; correct the line"));
    CHECK(!holds(error_of(text), "\n"));
  }
}

TEST_CASE("toml: a BOM and CRLF lines are no obstacle") {
  const Result<Pipeline> p = parse("\xEF\xBB\xBF[model]\r\npath = \"m\"\r\n[engine]\r\nqueue = 3\r\n");
  REQUIRE(p);
  CHECK(p->engine.queue.where == "x.toml:4:9");
}

TEST_CASE("toml: depth is bounded, for values and for keys") {
  for (const size_t n : {257u, 100000u}) {
    CHECK(holds(error_of("a = " + repeated("[", n)), "nested value depth"));
    CHECK(holds(error_of("a = " + repeated("{a=", n)), "nested value depth"));
  }
  const size_t deep = 100000;
  CHECK(holds(error_of(repeated("a.", deep) + "a = 1"), "x.toml:1: a dotted key has more than 16 parts"));
  CHECK(
      holds(error_of("\n[" + repeated("a.", deep) + "a]"), "x.toml:2: a dotted key has more than 16 parts"));
  CHECK(holds(error_of(repeated("\"a\" . ", deep) + "a = 1"), "more than 16 parts"));
  CHECK(holds(error_of("x = [\"\"\"a\"\"\"\", {" + repeated("a.", deep) + "a = 1}]"), "more than 16 parts"));
  CHECK(holds(error_of("x = ['''a''''', {" + repeated("a.", deep) + "a = 1}]"), "more than 16 parts"));
  CHECK(holds(error_of("x = \"\\\\\"\n" + repeated("a.", deep) + "a = 1"), "more than 16 parts"));
  CHECK(holds(error_of("", {repeated("a.", 30000) + "a=1"}), "is not a key"));
  CHECK(holds(error_of("", {"a={" + repeated("a.", 30000) + "a=1}"}), "more than 16 parts"));
  // Dots in strings, comments and numbers are no key parts.
  const Result<Raw> dots = parse_toml("a = \"" + repeated(".", 99) + "\" # " + repeated(".", 99) + "\nb = [" +
                                          repeated("1.5, ", 99) + "]\nc = '''\n" + repeated(".", 99) +
                                          "'''\n" + repeated("a.", 15).insert(0, "z.").substr(2) + "b = 1",
                                      "x.toml");
  CHECK_FALSE(dots);  // a is a string already: the duplicate, not the dots, is what is wrong
  CHECK(holds(dots.error().text(), "x.toml:5:"));
}

TEST_CASE("toml: size is bounded") {
  CHECK(holds(error_of(std::string(kMaxConfigBytes + 1, '#')), "x.toml: is larger than 1048576 bytes"));
  CHECK(holds(error_of("#" + std::string(kMaxConfigBytes - 1, ' ')), "names no model"));
}

TEST_CASE("toml: long and odd keys and values stay one short line") {
  const std::string key = error_of("[engine]\n\"" + std::string(5000, 'k') + "\" = 1\n");
  CHECK(key.size() < 400);
  const std::string twice = std::string(5000, 'k') + " = 1\n";
  CHECK(error_of(twice + twice).size() < 400);
  const std::string value = error_of("[engine]\nqueue = \"" + std::string(5000, 'v') + "\\n\"\n");
  CHECK(value.size() < 400);
  CHECK(holds(error_of("[engine]\n\"a\\nb\" = 1\n"), "unknown key engine.\"a\\nb\""));
}

TEST_CASE("toml: is_utf8") {
  for (const char* good : {"", "a", "é", "€", "😀", "\xED\x9F\xBF", "\xF4\x8F\xBF\xBF"}) CHECK(is_utf8(good));
  for (const char* bad :
       {"\x80", "\xC0\x80", "\xC3", "\xE0\x80\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xF8", "a\xFF"}) {
    CHECK_FALSE(is_utf8(bad));
  }
}

TEST_CASE("load: files that cannot be read") {
  const TempFolder folder;
  const std::string missing = (folder.path / "no.toml").string();
  CHECK(load_error(missing) == missing + ": there is no such file; check the path");
  CHECK(load_error(folder.path.string() + "/") == folder.path.string() +
                                                      "/: is a folder, not a pipeline file; name a "
                                                      ".toml file in it");
  const std::string big = folder.write("big.toml", std::string(kMaxConfigBytes + 1, '#')).string();
  CHECK(holds(load_error(big), big + ": is larger than 1048576 bytes"));
  if (geteuid() != 0) {
    const fs::path secret = folder.write("secret.toml", "");
    chmod(secret.c_str(), 0);
    CHECK(holds(load_error(secret.string()), "cannot be read"));
  }
  CHECK(holds(load_error("/dev/zero"), "is larger than"));
}

TEST_CASE("load: relative paths start at the folder of the file") {
  const TempFolder folder;
  const std::string file = folder.write("p.toml", "[model]\npath = \"m/x\"\n").string();
  PipelineOptions options;
  options.pipeline = file;
  const Result<Pipeline> p = load_pipeline(options);
  REQUIRE(p);
  CHECK(p->model.path.value == (folder.path / "m/x").string());
  CHECK(p->source == file);
  CHECK(p->folder == folder.path);
}

TEST_CASE("load: an installed config is found by name, the first folder wins") {
  const TempFolder first, second;
  first.write("chat.toml", "[model]\npath = \"1\"\n");
  second.write("chat.toml", "[model]\npath = \"2\"\n");
  second.write("serve.toml", "[model]\npath = \"2\"\n");
  second.write("notes.txt", "");
  const std::vector<fs::path> folders{first.path, "/nowhere", second.path};
  CHECK(*find_config("chat", folders) == first.path / "chat.toml");
  CHECK(*find_config("serve", folders) == second.path / "serve.toml");
  CHECK(load_error("chta", folders) ==
        "chta: is no installed config and no .toml file; did you mean 'chat'?");
  CHECK(holds(load_error("zzzzzzzz", folders), "the nearest known is 'chat' of chat, serve"));
  CHECK(holds(load_error("", folders), "PIPELINE: is no installed config"));
  CHECK(holds(load_error("chat"), "chat: is no installed config and no .toml file; none are known"));
}
