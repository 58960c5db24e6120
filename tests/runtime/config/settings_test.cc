// --set: what is a value, what a string; whole replacement; quoted keys; precedence; errors.
// Thread rule: one thread. Flow: parse_pipeline with settings.
#include <catch2/catch.hpp>

#include "config/toml_text.h"
#include "parse.h"

using namespace mortise;

namespace {

const std::string kModel = "[model]\npath = \"m\"\n";

Raw applied(const std::string& setting) {
  Raw root;
  REQUIRE(apply_setting(root, setting));
  return root;
}

}  // namespace

TEST_CASE("set: a TOML value, or else a string") {
  struct Row {
    const char* text;
    Raw::Type type;
  };
  const Row rows[] = {
      {"k=1", Raw::Type::integer},
      {"k=1.5", Raw::Type::real},
      {"k=true", Raw::Type::boolean},
      {"k=\"1\"", Raw::Type::string},
      {"k='x'", Raw::Type::string},
      {"k=[1, 2]", Raw::Type::list},
      {"k={ a = 1 }", Raw::Type::table},
      {"k=x.gguf", Raw::Type::string},
      {"k=", Raw::Type::string},
      {"k=[INST]", Raw::Type::string},
      {"k=a=b", Raw::Type::string},
      {"k=\"a=b\"", Raw::Type::string},
      {"k=1\nw=2", Raw::Type::string},
      {"k=1\n[w]", Raw::Type::string},
      {"k= 1 ", Raw::Type::integer},
      {" k =1", Raw::Type::integer},
      {"k=True", Raw::Type::string},
      {"k=2020-01-01", Raw::Type::date},
      {"k=/models/é.gguf", Raw::Type::string},
  };
  for (const Row& row : rows) {
    INFO(row.text);
    const Raw root = applied(row.text);
    REQUIRE(root.entries.size() == 1);
    CHECK(root.entries[0].key == "k");
    CHECK(root.entries[0].value.type == row.type);
    CHECK(root.entries[0].value.where == "--set k");
  }
  CHECK(applied("k=a=b").entries[0].value.s == "a=b");
  CHECK(applied("k=").entries[0].value.s.empty());
  CHECK(applied("k=1\nw=2").entries[0].value.s == "1\nw=2");
}

TEST_CASE("set: keys are TOML keys") {
  const Raw quoted = applied("a.\"b.c=d\".'e f'=1");
  const Raw& a = quoted.entries[0].value;
  REQUIRE(a.find("b.c=d") != nullptr);
  CHECK(a.find("b.c=d")->value.find("e f")->value.i == 1);
  CHECK(a.find("b.c=d")->where == "--set a.\"b.c=d\".'e f'");
  for (const char* bad :
       {"a..b=1", ".a=1", "a.=1", "[a]=1", "a b=1", "a#=1", "a\n=1", "{a=1", "é=1", "\"a=1"}) {
    Raw root;
    const Result<void> done = apply_setting(root, bad);
    INFO(bad);
    REQUIRE_FALSE(done);
    CHECK(done.error().where.rfind("--set", 0) == 0);
    CHECK(!holds(done.error().text(), "\n"));
    CHECK(root.entries.empty());
  }
  CHECK(holds(error_of(kModel, {"queue"}), "--set \"queue\": has no '='; write --set key=value"));
  CHECK(holds(error_of(kModel, {"=1"}), "--set \"=1\": has no key"));
  CHECK(holds(error_of(kModel, {""}), "--set \"\": has no '='"));
  CHECK(holds(error_of(kModel, {"a=\xff"}), "--set: is not UTF-8"));
}

TEST_CASE("set: the matrix of the contract") {
  const Result<Pipeline> p = parse(
      "[model]\npath = \"m\"\n[use]\nattention = { prefill = \"a\", decode = \"b\" }\nsampler = [\"x\", "
      "\"y\"]\n"
      "[kernels.pin]\n\"k\" = \"l\"\n",
      {"model.path=x.gguf", "use.attention=naive", "plugin.bench.tests=[\"decode:64\"]",
       "kernels.pin={ \"*\" = \"reference\" }", "engine.queue=3", "engine.queue=4", "defaults.temperature=0",
       "use.sampler=[]", "kv.memory=25%", "kernels.deny=[\"d\"]"});
  REQUIRE(p);
  CHECK(p->model.path.value == "x.gguf");
  CHECK(p->model.path.where == "--set model.path");
  CHECK(p->attention.decode->plugin == "naive");
  CHECK(p->attention.decode->where == "--set use.attention");
  REQUIRE(p->kernels.pin.size() == 1);
  CHECK(p->kernels.pin[0].id == "*");
  CHECK(p->kernels.pin[0].where == "--set kernels.pin");
  CHECK(p->engine.queue.value == 4);
  CHECK(p->engine.queue.where == "--set engine.queue");
  REQUIRE(p->table("bench").size() == 1);
  CHECK(p->table("bench")[0].value.items[0].s == "decode:64");
  CHECK(p->defaults[0].where == "--set defaults.temperature");
  CHECK(p->used("sampler") == nullptr);
  CHECK(p->kv.memory.value.percent == 25);
}

TEST_CASE("set: a quoted key segment adds one pin, or replaces it in its place") {
  const std::string text = kModel + "[kernels.pin]\n\"gguf.q4_1\" = \"a\"\n\"*\" = \"b\"\n";
  const Result<Pipeline> p = parse(text, {"kernels.pin.\"gguf.q4_1\"=\"x\"", "kernels.pin.\"n.q\"=y"});
  REQUIRE(p);
  REQUIRE(p->kernels.pin.size() == 3);
  CHECK(p->kernels.pin[0].plugin == "x");
  CHECK(p->kernels.pin[0].where == "--set kernels.pin.\"gguf.q4_1\"");
  CHECK(p->kernels.pin[1].where == "x.toml:5:1");
  CHECK(p->kernels.pin[2].id == "n.q");
}

TEST_CASE("set: errors carry the setting, not the file") {
  const std::pair<const char*, const char*> rows[] = {
      {"engine.queue=0", "--set engine.queue: engine.queue = 0 is not in [1, 65536]"},
      {"engine.queue=many", "--set engine.queue: engine.queue expects an integer, found the string \"many\""},
      {"engine.queu=1", "--set engine.queu: unknown key engine.queu; did you mean 'queue'?"},
      {"engin.queue=1",
       "--set engin.queue: unknown key engin.queue: there is no table [engin]; did you mean 'engine'?"},
      {"engine=1", "--set engine: engine expects a table, found the integer 1"},
      {"model.path.x=1",
       "--set model.path.x: 'path' is already the string \"m\" and has no keys; set path as a whole"},
      {"model.path=1", "--set model.path: model.path expects a path as a string, found the integer 1"},
      {"kernels.pin={ \"*\" = reference }",
       "--set kernels.pin: kernels.pin expects a table, found the string"},
      {"plugin.p=1", "--set plugin.p: plugin.p expects a table"},
      {"queue=1", "--set queue: unknown key queue outside a table"},
  };
  for (const auto& [setting, error] : rows) {
    INFO(setting << " -> " << error_of(kModel, {setting}));
    CHECK(holds(error_of(kModel, {setting}), error));
  }
}

TEST_CASE("set: a whole table is replaced, and an inner key set later goes into it") {
  const Result<Pipeline> p = parse(kModel + "[plugin.p]\na = 1\nb = 2\n[engine]\nqueue = 7\n",
                                   {"plugin.p={ c = 3 }", "plugin.p.d=4", "engine={ threads = 2 }"});
  REQUIRE(p);
  REQUIRE(p->table("p").size() == 2);
  CHECK(p->table("p")[0].key == "c");
  CHECK(p->table("p")[1].key == "d");
  CHECK(p->engine.queue.value == 256);
  CHECK(p->engine.threads.value == 2);
}

TEST_CASE("set: paths of the file start at its folder, paths of settings where the program runs") {
  CHECK(parse(kModel)->model.path.value == "/cfg/m");
  CHECK(parse("[model]\npath = \"../m\"")->model.path.value == "/cfg/../m");
  CHECK(parse(kModel, {"model.path=m"})->model.path.value == "m");
  CHECK(parse(kModel, {"model={ path = \"m\" }"})->model.path.value == "m");
  CHECK(parse(kModel, {}, "m")->model.path.value == "m");
}
