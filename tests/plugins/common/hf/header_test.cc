// Tests of the safetensors header: the reported cases, every prefix, damaged fields.
// Thread rule: single-threaded. Flow: tests plugins/common/hf/header.cc.
#include <catch2/catch.hpp>
#include <chrono>
#include <fstream>

#include "file_maker.h"
#include "json/json.h"

using hf_test::file_of;
using hf_test::parse;
using hf_test::small_file;

namespace {

std::string from_hex(const std::string& hex) {
  std::string out;
  for (size_t i = 0; i + 1 < hex.size(); i += 2)
    out += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return out;
}

/// The input of a reported case.
mortise::json::Value case_input(const std::string& id) {
  std::ifstream in(MORTISE_TEST_DATA "/cases/cases.jsonl");
  for (std::string line; std::getline(in, line);) {
    auto row = mortise::json::parse(line);
    if (row && (*row)["id"] == id) return (*row)["input"];
  }
  return {};
}

std::string input(const std::string& id, const char* key) {
  return from_hex(case_input(id).at(key).get<std::string>());
}

void check_refused(const std::string& bytes, const std::string& what, bool header_only = false) {
  const auto begin = std::chrono::steady_clock::now();
  const auto header = parse(bytes, header_only);
  INFO(what);
  REQUIRE_FALSE(header);
  INFO(header.error().text());
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::milliseconds(100));
  CHECK(header.error().where == "x.safetensors");
  CHECK(header.error().offset <= bytes.size());
  CHECK(header.error().message.find('\n') == std::string::npos);
  CHECK(header.error().message.size() < 500);
}

std::string one(const std::string& fields, size_t data_bytes) {
  return file_of("{\"t\":{" + fields + "}}", std::string(data_bytes, 'x'));
}

}  // namespace

TEST_CASE("a small file reads in the order of its data") {
  const auto header = parse(small_file());
  REQUIRE(header);
  REQUIRE(header->tensors.size() == 3);
  const uint64_t start = small_file().size() - 13;
  CHECK(header->data_start == start);
  CHECK(header->has_data);
  CHECK(header->tensors[0].name == "a");
  CHECK(header->tensors[0].offset == start);
  CHECK(header->tensors[0].length == 4);
  CHECK(header->tensors[0].file == 7);
  CHECK(header->tensors[0].dtype->element == std::string("bf16"));
  CHECK(header->tensors[1].name == "b");
  CHECK(header->tensors[1].has_shape({2, 1}));
  CHECK(header->tensors[2].rank == 0);
  CHECK(header->tensors[2].offset == start + 12);
  CHECK(header->metadata == std::vector<std::pair<std::string, std::string>>{{"format", "pt"}});
}

TEST_CASE("reported cases of the header, wgt-08 and wgt-10 to wgt-14") {
  const auto metadata = parse(input("wgt-08", "hex"));
  REQUIRE(metadata);
  CHECK(metadata->tensors.empty());
  CHECK(metadata->metadata == std::vector<std::pair<std::string, std::string>>{{"k", "v"}});
  REQUIRE(parse(input("wgt-08", "also")));
  for (const char* key : {"hex", "overflow", "reversed", "negative_dim"})
    check_refused(input("wgt-10", key), key);
  for (const char* key : {"overlap", "hole", "trailing", "truncated"})
    check_refused(input("wgt-11", key), key);
  const auto unordered = parse(input("wgt-11", "valid_unordered"));
  REQUIRE(unordered);
  CHECK(unordered->tensors[0].name == "a");
  const auto empty = parse(input("wgt-13", "hex"));
  REQUIRE(empty);
  CHECK(empty->tensors[0].has_shape({0, 3}));
  CHECK(empty->tensors[0].length == 0);
  CHECK(empty->tensors[1].rank == 0);
  check_refused(input("wgt-13", "negative"), "one element, no bytes");
  const auto unaligned = parse(input("wgt-14", "hex"));
  REQUIRE(unaligned);
  CHECK(unaligned->tensors[1].offset == unaligned->data_start + 1);
  REQUIRE(parse(input("wgt-14", "padded_header")));
}

TEST_CASE("no prefix of a valid file is accepted, but for header-only ones where they are asked for") {
  const std::string whole = small_file();
  const uint64_t header_end = parse(whole)->data_start;
  for (size_t size = 0; size < whole.size(); ++size) {
    const std::string prefix = whole.substr(0, size);
    check_refused(prefix, "prefix of " + std::to_string(size));
    const auto planned = parse(prefix, true);
    INFO("prefix of " << size);
    REQUIRE(planned.has_value() == (size >= header_end));
    if (planned) CHECK_FALSE(planned->has_data);
  }
  check_refused(whole + "x", "a byte more");
  check_refused(whole + "x", "a byte more, header only", true);
}

TEST_CASE("the header's length is checked before it is used") {
  const std::string rest = small_file().substr(8);
  for (const uint64_t length :
       {uint64_t{0}, uint64_t{1}, uint64_t{rest.size() + 1}, uint64_t{100'000'000}, uint64_t{100'000'001},
        uint64_t{1} << 32, uint64_t{1} << 63, UINT64_MAX, UINT64_MAX - 7}) {
    std::string bytes(reinterpret_cast<const char*>(&length), sizeof(length));
    check_refused(bytes + rest, "length " + std::to_string(length));
  }
  CHECK(parse("version https://git-lfs.github.com/spec/v1\n").error().message.find("Git LFS") !=
        std::string::npos);
}

TEST_CASE("damaged fields are refused") {
  const std::string dtype = R"("dtype":"F32")", shape = R"("shape":[2])", range = R"("data_offsets":[0,8])";
  REQUIRE(parse(one(dtype + "," + shape + "," + range, 8)));
  const auto with = [&](const std::string& d, const std::string& s, const std::string& r) {
    check_refused(one(d + "," + s + "," + r, 8), d + s + r);
  };
  for (const char* bad : {R"("dtype":"F33")", R"("dtype":"f32")", R"("dtype":1)", R"("dtype":null)",
                          R"("dtype":[])", R"("dtype":{})", R"("x":1)", R"("dtype":"F32","dtype":"F32")"})
    with(bad, shape, range);
  for (const char* bad :
       {R"("shape":[3])", R"("shape":[-2])", R"("shape":[2.0])", R"("shape":[2e0])", R"("shape":["2"])",
        R"("shape":[null])", R"("shape":[[2]])", R"("shape":2)", R"("shape":{})", R"("shape":null)",
        R"("shape":[4611686018427387904,4,2])", R"("shape":[18446744073709551615])",
        R"("shape":[18446744073709551618])", R"("shape":[-0])", R"("x":2)", R"("shape":[2],"shape":[2])",
        R"("shape":[1,1,1,1,1,1,1,1,2])"})
    with(dtype, bad, range);
  for (const char* bad :
       {R"("data_offsets":[8,0])", R"("data_offsets":[0])", R"("data_offsets":[])",
        R"("data_offsets":[0,8,8])", R"("data_offsets":[0,7])", R"("data_offsets":[1,9])",
        R"("data_offsets":[18446744073709551608,0])", R"("data_offsets":[0,18446744073709551615])",
        R"("data_offsets":[-8,0])", R"("data_offsets":8)", R"("data_offsets":[0,[8]])",
        R"("data_offsets":{"0":8})", R"("x":2)", R"("data_offsets":[0,8],"data_offsets":[0,8])"})
    with(dtype, shape, bad);
  CHECK(parse(one(R"("dtype":"F33",)" + shape + "," + range, 8)).error().code == mortise::Code::unsupported);
}

TEST_CASE("ranges that overlap or leave a hole are refused, also where their sum is the file's size") {
  const auto two = [](const std::string& a, const std::string& b) {
    return file_of(R"({"a":{"dtype":"U8","shape":[8],"data_offsets":)" + a +
                       R"(},"b":{"dtype":"U8","shape":[4],"data_offsets":)" + b + "}}",
                   "0123456789ab");
  };
  REQUIRE(parse(two("[0,8]", "[8,12]")));
  REQUIRE(parse(two("[4,12]", "[0,4]")));
  for (const char* b : {"[4,8]", "[7,11]", "[0,4]", "[9,13]"}) check_refused(two("[0,8]", b), b);
  check_refused(two("[1,9]", "[9,13]"), "a gap before the first");
}

TEST_CASE("texts that are no header are refused") {
  const std::string entry = R"({"dtype":"U8","shape":[1],"data_offsets":[0,1]})";
  const std::string again = R"({"dtype":"U8","shape":[1],"data_offsets":[1,2]})";
  REQUIRE(parse(file_of(R"({"a":)" + entry + R"(,"b":)" + again + "}  ", "xy")));
  for (const std::string& header :
       {std::string("{"), std::string("[]"), std::string(" {}"), std::string("{} x"), std::string("null"),
        std::string("{}\0", 3), std::string("\xef\xbb\xbf{}"), std::string("{\"\xff\":1}"),
        std::string(R"({"a":1})"), std::string(R"({"a":{}})"), std::string(R"({"__metadata__":[]})"),
        std::string(R"({"__metadata__":{"a":1}})"), std::string(R"({"__metadata__":{"a":{}}})"),
        std::string(R"({"__metadata__":{"a":"1","a":"1"}})"),
        std::string(R"({"__metadata__":{},"__metadata__":{}})"), std::string(R"({"\ud800":1})"),
        R"({"a":)" + entry + R"(,"a":)" + again + "}", R"({"a":)" + entry + R"(,"\u0061":)" + again + "}",
        R"({"a":{"x":)" + std::string(70, '[') + std::string(70, ']') + "," + entry.substr(1) + "}"})
    check_refused(file_of(header, "xy"), header);
}

TEST_CASE("every dtype reads by its size") {
  const std::pair<const char*, uint64_t> bits[] = {
      {"BOOL", 8},    {"F4", 4},      {"F6_E2M3", 6},     {"F6_E3M2", 6},    {"U8", 8},   {"I8", 8},
      {"I16", 16},    {"U16", 16},    {"F16", 16},        {"BF16", 16},      {"I32", 32}, {"U32", 32},
      {"F32", 32},    {"C64", 64},    {"F64", 64},        {"I64", 64},       {"U64", 64}, {"F8_E5M2", 8},
      {"F8_E4M3", 8}, {"F8_E8M0", 8}, {"F8_E4M3FNUZ", 8}, {"F8_E5M2FNUZ", 8}};
  for (const auto& [name, width] : bits) {
    const std::string fields = std::string(R"("dtype":")") + name + R"(","shape":[8],"data_offsets":[0,)" +
                               std::to_string(width) + "]";
    INFO(name);
    CHECK(parse(one(fields, width)));
    CHECK_FALSE(parse(one(fields, width - 1)));
  }
  check_refused(one(R"("dtype":"F4","shape":[3],"data_offsets":[0,1])", 1), "half a byte");
}
