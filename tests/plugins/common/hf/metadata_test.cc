// Tests of flattened configs. Thread rule: single-threaded. Flow: tests plugins/common/hf/metadata.cc.
#include "hf/metadata.h"

#include <catch2/catch.hpp>

#include "hf/hf_limits.h"

using mortise::hf::Metadata;

namespace {

Metadata flat(std::string_view json, std::string_view skip = {}) {
  Metadata out;
  const auto added = out.add_json(json, "config.json", "", skip);
  INFO((added ? "" : added.error().text()));
  REQUIRE(added);
  return out;
}

std::vector<int64_t> ints(const Metadata& metadata, std::string_view key) {
  const auto* entry = metadata.find(key);
  REQUIRE(entry != nullptr);
  const mortise_meta value = entry->value();
  const auto* data = static_cast<const int64_t*>(value.data);
  return {data, data + value.count};
}

}  // namespace

TEST_CASE("objects become keys with dots, null is absent") {
  const Metadata m = flat(R"({"a":1,"b":{"c":{"d":true,"e":null},"f":"x"},"g":null,"h":{}})");
  CHECK(m.size() == 3);
  CHECK(ints(m, "a") == std::vector<int64_t>{1});
  CHECK(m.find("a")->type == MORTISE_INT);
  CHECK_FALSE(m.find("a")->is_array);
  CHECK(m.find("b.c.d")->type == MORTISE_BOOL);
  CHECK(ints(m, "b.c.d") == std::vector<int64_t>{1});
  CHECK(m.text("b.f") == "x");
  CHECK(m.text("a").empty());
  CHECK(m.find("g") == nullptr);
  CHECK(m.has_prefix("b.c."));
  CHECK_FALSE(m.has_prefix("c."));
}

TEST_CASE("lists of one type are arrays, others become keys by index") {
  const Metadata m = flat(R"({"i":[1,-2],"f":[1,2.5],"s":["a","b"],"b":[true,false],"none":[],)"
                          R"("mixed":[1,"x",{"y":2}],"nested":[[1,2],[3]],"holes":[null,5],"after":7})");
  CHECK(ints(m, "i") == std::vector<int64_t>{1, -2});
  CHECK(m.find("i")->is_array);
  CHECK(m.find("f")->floats == std::vector<double>{1, 2.5});
  CHECK(m.find("f")->type == MORTISE_FLOAT);
  CHECK(m.find("s")->texts == std::vector<std::string>{"a", "b"});
  CHECK(ints(m, "b") == std::vector<int64_t>{1, 0});
  CHECK(m.find("none")->is_array);
  CHECK(m.find("none")->value().count == 0);
  CHECK(ints(m, "mixed.0") == std::vector<int64_t>{1});
  CHECK(m.text("mixed.1") == "x");
  CHECK(ints(m, "mixed.2.y") == std::vector<int64_t>{2});
  CHECK(ints(m, "nested.0") == std::vector<int64_t>{1, 2});
  CHECK(ints(m, "nested.1") == std::vector<int64_t>{3});
  CHECK(ints(m, "holes.1") == std::vector<int64_t>{5});
  CHECK(ints(m, "after") == std::vector<int64_t>{7});
  CHECK(m.size() == 12);
}

TEST_CASE("numbers keep their value") {
  const Metadata m = flat(R"({"e":1e-5,"big":1000000000000000019884624838656,"max":9223372036854775807,)"
                          R"("over":9223372036854775808,"whole":10000.0})");
  CHECK(m.find("e")->floats == std::vector<double>{1e-5});
  CHECK(m.find("big")->floats == std::vector<double>{1e30});
  CHECK(ints(m, "max") == std::vector<int64_t>{INT64_MAX});
  CHECK(m.find("over")->floats == std::vector<double>{9223372036854775808.0});
  CHECK(m.find("whole")->type == MORTISE_FLOAT);
}

TEST_CASE("a prefix stands before each key, and what is to be skipped is left out") {
  Metadata m;
  REQUIRE(m.add_json(R"({"bos_token":{"content":"<s>","lstrip":false},"skip":{"1":{"x":[2]}},"z":1})", "t",
                     "tokenizer_config.", "skip"));
  CHECK(m.text("tokenizer_config.bos_token.content") == "<s>");
  CHECK(m.find("tokenizer_config.z") != nullptr);
  CHECK(m.size() == 3);
}

TEST_CASE("what is no config is refused with its place") {
  const auto refused = [](std::string_view json) {
    Metadata m;
    const auto added = m.add_json(json, "config.json", "");
    INFO(json);
    REQUIRE_FALSE(added);
    CHECK(added.error().where == "config.json");
    CHECK(added.error().offset <= json.size());
    return added.error();
  };
  refused("");
  refused("[]");
  refused("1");
  refused(R"({"a":1)");
  refused(R"({"a":1}{)");
  CHECK(refused(R"({"a":1,"a":2})").message.find("occurs twice") != std::string::npos);
  CHECK(refused(R"({"a":{"b":1},"a.b":2})").message.find("\"a.b\"") != std::string::npos);
  std::string deep = R"({"a":)" + std::string(mortise::hf::kJsonDepthMax, '[') +
                     std::string(mortise::hf::kJsonDepthMax, ']') + "}";
  CHECK(refused(deep).code == mortise::Code::limit);
  const std::string longest(mortise::hf::kConfigKeyBytesMax, 'k');
  CHECK(refused("{\"" + longest + "k\":1}").code == mortise::Code::limit);
  flat("{\"" + longest + "\":1}");
  std::string many = "{";
  for (size_t i = 0; i <= mortise::hf::kConfigKeysMax; ++i) many += "\"" + std::to_string(i) + "\":1,";
  many.back() = '}';
  CHECK(refused(many).code == mortise::Code::limit);
}
