// Tests of mortise/cpp/utf8.h against the Unicode standard's own examples and against every code point.
// Thread rule: single-threaded. Flow: run by CTest.
#include <mortise/cpp/utf8.h>

#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace {

std::string bytes(std::initializer_list<int> values) {
  std::string out;
  for (int value : values) out += static_cast<char>(value);
  return out;
}

std::string times(int count) {
  std::string out;
  for (int i = 0; i < count; ++i) out += mortise::kUtf8Replacement;
  return out;
}

std::string encode(uint32_t c) {
  const auto part = [&](int shift, int mark) { return static_cast<int>(mark | ((c >> shift) & 0x3F)); };
  if (c < 0x80) return bytes({static_cast<int>(c)});
  if (c < 0x800) return bytes({static_cast<int>(0xC0 | c >> 6), part(0, 0x80)});
  if (c < 0x10000) return bytes({static_cast<int>(0xE0 | c >> 12), part(6, 0x80), part(0, 0x80)});
  return bytes({static_cast<int>(0xF0 | c >> 18), part(12, 0x80), part(6, 0x80), part(0, 0x80)});
}

}  // namespace

TEST_CASE("utf8: exactly the code points without surrogates are valid") {
  for (uint32_t c = 0; c < 0x120000; ++c) {
    const bool good = c < 0xD800 || (c > 0xDFFF && c < 0x110000);
    if (mortise::valid_utf8(encode(c)) != good) FAIL("code point " << c);
  }
  CHECK(mortise::valid_utf8(""));
  CHECK_FALSE(mortise::valid_utf8(bytes({0xC0, 0x80})));
  CHECK_FALSE(mortise::valid_utf8(bytes({0xE0, 0x9F, 0xBF})));
  CHECK_FALSE(mortise::valid_utf8(bytes({0xF0, 0x8F, 0xBF, 0xBF})));
  CHECK_FALSE(mortise::valid_utf8("12345678" + bytes({0xE2, 0x82})));
}

TEST_CASE("utf8: the standard's examples of replacement") {
  using mortise::replace_invalid;
  CHECK(replace_invalid(bytes({0xC0, 0xAF, 0xE0, 0x80, 0xBF, 0xF0, 0x81, 0x82, 0x41})) == times(8) + "A");
  CHECK(replace_invalid(bytes({0xED, 0xA0, 0x80, 0xED, 0xBF, 0xBF, 0xED, 0xAF, 0x41})) == times(8) + "A");
  CHECK(replace_invalid(bytes({0xF4, 0x91, 0x92, 0x93, 0xFF, 0x41, 0x80, 0xBF, 0x42})) ==
        times(5) + "A" + times(2) + "B");
  CHECK(replace_invalid(bytes({0xE1, 0x80, 0xE2, 0xF0, 0x91, 0x92, 0xF1, 0xBF, 0x41})) == times(4) + "A");
  CHECK(replace_invalid("a" + bytes({0xF0, 0x9F, 0x98})) == "a" + times(1));
}

TEST_CASE("utf8: tokens of a single byte are replaced one by one, others by the part") {
  const auto text = [](std::initializer_list<std::pair<std::string, bool>> pieces) {
    mortise::Utf8Stream stream;
    std::string out;
    for (const auto& [piece, is_byte] : pieces) out += stream.feed(piece, is_byte);
    return out += stream.finish();
  };
  const std::string e2 = bytes({0xE2}), x82 = bytes({0x82}), ac = bytes({0xAC});
  CHECK(text({{e2, true}, {x82, true}, {"b", false}}) == times(2) + "b");
  CHECK(text({{e2, true}, {x82, true}, {ac, true}}) == e2 + x82 + ac);
  CHECK(text({{e2, false}, {x82, false}, {"b", true}}) == times(1) + "b");
  CHECK(text({{e2, true}, {x82, true}}) == times(2));
  CHECK(text({{e2, false}, {x82, false}}) == times(1));
  CHECK(text({{e2, true}, {x82, true}, {"A" + e2, false}}) == times(2) + "A" + times(1));
}

// str-08 of the cases.
TEST_CASE("utf8: a stream keeps back what is incomplete and nothing else") {
  mortise::Utf8Stream stream;
  CHECK(stream.feed("a") == "a");
  CHECK(stream.feed(bytes({0xF0})) == "");
  CHECK(stream.held() == 1);
  CHECK(stream.feed("(") == times(1) + "(");
  CHECK(stream.feed(bytes({0xE2, 0x82})) == "");
  CHECK(stream.feed("") == "");
  CHECK(stream.held() == 2);
  CHECK(stream.feed(bytes({0xAC})) == "\u20ac");
  CHECK(stream.feed(bytes({0xC3})) == "");
  CHECK(stream.feed("A") == times(1) + "A");
  CHECK(stream.finish() == "");
  CHECK(stream.feed(bytes({0xF0, 0x9F, 0x98})) == "");
  CHECK(stream.finish() == times(1));
  CHECK(stream.feed(bytes({0x80}) + "b") == times(1) + "b");
}
