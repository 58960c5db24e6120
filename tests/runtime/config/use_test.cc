// [use] and [kernels]: forms, order, origins, errors; unknown tables.
// Thread rule: one thread. Flow: parse_pipeline on text.
#include <catch2/catch.hpp>

#include "parse.h"

using namespace mortise;

namespace {

const std::string kModel = "[model]\npath = \"m\"\n";

std::string use_error(const std::string& line) { return error_of(kModel + "[use]\n" + line + "\n"); }
std::string kernels_error(const std::string& line) { return error_of(kModel + "[kernels]\n" + line + "\n"); }

}  // namespace

TEST_CASE("config use: a name, a table, a list") {
  const Result<Pipeline> p = parse(kModel +
                                   "[use]\nweights = \"w\"\ntokenizer = \"none\"\nchat = { plugin = \"j\" }\n"
                                   "sampler = [\"b\", \"a\"]\n"
                                   "frontend = [\"h\", { plugin = \"h\", name = \"admin\" }]\n");
  REQUIRE(p);
  CHECK(p->used("weights")->plugin == "w");
  CHECK(p->used("weights")->where == "x.toml:4:11");
  CHECK(p->used("tokenizer")->plugin == "none");
  CHECK(p->used("chat")->name == "j");
  CHECK(p->used("arch") == nullptr);
  const std::vector<Use>& samplers = p->use.at("sampler");
  REQUIRE(samplers.size() == 2);
  CHECK(samplers[0].plugin == "b");
  const std::vector<Use>& frontends = p->use.at("frontend");
  REQUIRE(frontends.size() == 2);
  CHECK(frontends[1].plugin == "h");
  CHECK(frontends[1].name == "admin");
  CHECK(frontends[1].where == "x.toml:8:18");
}

TEST_CASE("config use: attention is one name, or one for each phase") {
  const Result<Pipeline> one = parse(kModel + "[use]\nattention = \"p\"\n");
  REQUIRE(one);
  CHECK(one->attention.prefill->plugin == "p");
  CHECK(one->attention.decode->plugin == "p");
  const Result<Pipeline> two = parse(kModel + "[use]\nattention = { decode = \"d\", prefill = \"p\" }\n");
  REQUIRE(two);
  CHECK(two->attention.prefill->plugin == "p");
  CHECK(two->attention.decode->plugin == "d");
  const Result<Pipeline> half = parse(kModel + "[use]\nattention = { decode = \"d\" }\n");
  REQUIRE(half);
  CHECK_FALSE(half->attention.prefill);
  CHECK(half->attention.decode->plugin == "d");
  const Result<Pipeline> named = parse(kModel + "[use]\nattention = { plugin = \"d\", name = \"n\" }\n");
  REQUIRE(named);
  CHECK(named->attention.prefill->name == "n");
}

TEST_CASE("config use: a lone name stands for a list of one, an empty list for none") {
  CHECK(parse(kModel + "[use]\nfrontend = \"h\"\n")->use.at("frontend").size() == 1);
  const Result<Pipeline> none = parse(kModel + "[use]\nsampler = []\n");
  REQUIRE(none);
  CHECK(none->use.count("sampler") == 1);
  CHECK(none->used("sampler") == nullptr);
}

TEST_CASE("config use: errors") {
  const std::pair<const char*, const char*> rows[] = {
      {"sampler = [1]", "x.toml:4:12: use.sampler expects a plugin's name as a string, found the integer 1"},
      {"weights = []", "use.weights expects a plugin's name as a string, found a list"},
      {"weights = \"\"", "use.weights = \"\" is no plugin's name"},
      {"weights = \"../../evil\"", "use.weights = \"../../evil\" is no plugin's name"},
      {"weights = \"A\"", "is no plugin's name"},
      {"sampler = [\"a\", \"b\", \"a\"]", "x.toml:4:22: use.sampler has 'a' twice; give the second a name"},
      {"frontend = [{ name = \"x\" }]", "use.frontend names no plugin; write { plugin"},
      {"frontend = [{ plugn = \"x\" }]",
       "x.toml:4:15: unknown key use.frontend.plugn; did you mean 'plugin'?"},
      {"attention = { prefil = \"x\" }", "unknown key use.attention.prefil; did you mean 'prefill'?"},
      {"attention = 1", "use.attention expects a plugin's name"},
      {"sampeler = []", "x.toml:4:1: unknown key use.sampeler; did you mean 'sampler'?"},
  };
  for (const auto& [line, error] : rows) {
    INFO(line << " -> " << use_error(line));
    CHECK(holds(use_error(line), error));
  }
}

TEST_CASE("config kernels: pins in the order of the file, with format, tensor and origin") {
  const Result<Pipeline> p =
      parse(kModel +
            "[kernels]\ndeny = [\"x\", \"*\"]\n[kernels.pin]\n\"z.q8@output*\" = \"r\"\n"
            "\"*\" = \"s\"\n\"acme.op/1\" = \"t\"\n\"z.q4@a@b\" = \"u\"\n");
  REQUIRE(p);
  REQUIRE(p->kernels.pin.size() == 4);
  CHECK(p->kernels.pin[0].id == "z.q8");
  CHECK(p->kernels.pin[0].tensor == "output*");
  CHECK(p->kernels.pin[0].plugin == "r");
  CHECK(p->kernels.pin[0].where == "x.toml:6:1");
  CHECK(p->kernels.pin[0].text() == "z.q8@output*");
  CHECK(p->kernels.pin[1].id == "*");
  CHECK(p->kernels.pin[2].id == "acme.op/1");
  CHECK(p->kernels.pin[3].tensor == "a@b");
  REQUIRE(p->kernels.deny.size() == 2);
  CHECK(p->kernels.deny[1].value == "*");
  CHECK(p->kernels.deny[0].where == "x.toml:4:9");
}

TEST_CASE("config kernels: errors") {
  const std::pair<const char*, const char*> rows[] = {
      {"pin = []", "x.toml:4:7: kernels.pin expects a table, found a list; write {"},
      {"pin = { \"*\" = 1 }", "kernels.pin.\"*\" expects a plugin's name as a string, found the integer 1"},
      {"pin = { \"@x\" = \"r\" }", "kernels.pin.\"@x\" is no pin; write FORMAT"},
      {"pin = { \"x@\" = \"r\" }", "kernels.pin.\"x@\" is no pin"},
      {"pin = { \"\" = \"r\" }", "kernels.pin.\"\" is no pin"},
      {"pin = { a.b = \"r\" }", "kernels.pin.a expects a plugin's name as a string, found a table"},
      {"deny = \"r\"", "kernels.deny expects a list of strings, found the string \"r\""},
      {"deny = [1]", "kernels.deny expects a plugin's name as a string, found the integer 1"},
      {"denny = []", "unknown key kernels.denny; did you mean 'deny'?"},
  };
  for (const auto& [line, error] : rows) {
    INFO(line << " -> " << kernels_error(line));
    CHECK(holds(kernels_error(line), error));
  }
}

TEST_CASE("config: an unknown table is an error that names its first key, never silence") {
  const std::string sampler = error_of("[sampler]\ntemprature = 0.2\n");
  CHECK(holds(sampler, "x.toml:2:1: unknown key sampler.temprature: there is no table [sampler]"));
  CHECK(holds(sampler, "request parameters belong in [defaults]"));
  CHECK(holds(error_of("[kv_cahce]\n"), "x.toml:1:2: unknown table [kv_cahce]; "));
  CHECK(holds(error_of("[enigne]\nqueue = 1\n"), "did you mean 'engine'?"));
  CHECK(holds(error_of("queue = 1\n"), "x.toml:1:1: unknown key queue outside a table; "));
  CHECK(holds(error_of("kv = 1\n"), "x.toml:1:6: kv expects a table, found the integer 1; write [kv]"));
  CHECK(holds(error_of("defaults = []\n"), "defaults expects a table, found a list"));
  CHECK(holds(error_of("[plugin]\nx = 1\n"),
              "plugin.x expects a table, found the integer 1; write [plugin.x]"));
  CHECK(holds(error_of("[[engine]]\nqueue = 1\n"), "engine expects a table, found a list"));
}

TEST_CASE("config: the first error in the order of the file is reported") {
  CHECK(holds(error_of("[kv]\nzz = 1\n[engine]\naa = 1\n"), "x.toml:2:1: unknown key kv.zz"));
  CHECK(holds(error_of("[engine]\nzz = 1\naa = 1\n"), "x.toml:2:1: unknown key engine.zz"));
}
