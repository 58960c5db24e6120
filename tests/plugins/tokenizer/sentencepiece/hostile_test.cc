// Damaged and hostile tokenizer.model files: one line with file and offset, whatever is in them.
// Thread rule: single-threaded. Flow: run by CTest; MORTISE_SEED replays the random part.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>
#include <set>

#include "charsmap.h"
#include "test_model.h"

using namespace mortise::sentencepiece;

namespace {

const std::string kUnigram = integer_field(3, 1);
const std::vector<TestPiece> kPieces = {{"<unk>", 0, 2}, {"a", -1, 1}, {"ab", -2, 1}, {"b", -3, 1}};

std::string error_of(const std::string& file) {
  const auto loaded = hub_model(file).load();
  if (loaded) return "";
  CHECK(loaded.error().message.find('\n') == std::string::npos);
  CHECK(loaded.error().where == "folder/tokenizer.model");
  return loaded.error().text();
}

std::string with_pieces(std::vector<TestPiece> more, const std::string& trainer = kUnigram) {
  more.insert(more.begin(), kPieces.begin(), kPieces.end());
  return model_file(more, trainer);
}

// A charsmap of `units`, and replacements.
std::string charsmap(std::vector<uint32_t> units, const std::string& texts, size_t size = 256) {
  units.resize(size);
  const auto bytes = static_cast<uint32_t>(units.size() * 4);
  std::string out(4 + bytes, '\0');
  std::memcpy(out.data(), &bytes, 4);
  std::memcpy(out.data() + 4, units.data(), bytes);
  return out + texts;
}

std::string charsmap_error(const std::string& bytes) {
  const auto loaded = Charsmap::load(bytes, "f");
  return loaded ? "" : loaded.error().text();
}

}  // namespace

TEST_CASE("sentencepiece hostile: the wire format") {
  const std::string good = model_file(kPieces, kUnigram);
  REQUIRE(error_of(good).empty());
  CHECK(error_of("").find("@0: holds no pieces") != std::string::npos);
  CHECK(error_of("GGUF....").find("@0: ") != std::string::npos);
  CHECK(error_of(std::string(1, '\0')).find("@0: holds no field's tag") != std::string::npos);
  CHECK(error_of("\x0A").find("@1: field 1 is cut off") != std::string::npos);
  CHECK(
      error_of("\x0A\xFF\xFF\xFF\xFF\x7F").find("@6: field 1 needs 34359738367 bytes, but only 0 are left") !=
      std::string::npos);
  CHECK(error_of("\x0A" + std::string(11, '\xFF')).find("more than 64 bits") != std::string::npos);
  CHECK(error_of("\x0B").find("@0: field 1 has wire type 3") != std::string::npos);
  CHECK(error_of("\x08\x01").find("@0: a piece has wire type 0 instead of 2") != std::string::npos);
  CHECK(error_of(bytes_field(1, "\x08\x01")).find("@2: a piece's text has wire type 0 instead of 2") !=
        std::string::npos);
  CHECK(error_of(bytes_field(1, "\x10\x01")).find("@2: a piece's score has wire type 0 instead of 5") !=
        std::string::npos);
  std::set<size_t> borders = {0};  // a file that is cut between two fields is a shorter file
  for (const TestPiece& piece : kPieces) borders.insert(*borders.rbegin() + piece_field(piece).size());
  borders.insert(*borders.rbegin() + bytes_field(2, kUnigram).size());
  for (size_t size = 0; size < good.size(); ++size) {
    INFO(size);
    if (borders.count(size) == 0) CHECK(error_of(good.substr(0, size)).find('@') != std::string::npos);
  }
}

TEST_CASE("sentencepiece hostile: pieces") {
  CHECK(error_of(with_pieces({{"a", -1, 1}})).find("piece 4, \"a\", stands there twice") !=
        std::string::npos);
  CHECK(error_of(with_pieces({{"c", -1, 2}})).find("piece 4 is a second unknown piece") != std::string::npos);
  CHECK(error_of(model_file({{"a", -1, 1}}, kUnigram)).find("no piece is the unknown one") !=
        std::string::npos);
  CHECK(error_of(with_pieces({{"", -1, 1}})).find("piece 4 is empty") != std::string::npos);
  CHECK(error_of(with_pieces({{"c", -1, 7}})).find("type is 7, outside 1 to 6") != std::string::npos);
  CHECK(error_of(with_pieces({{std::string(513, 'x'), -1, 1}})).find("has 513 bytes; the limit is 512") !=
        std::string::npos);
  for (const double score :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(), -1e300})
    CHECK(error_of(with_pieces({{"c", score, 1}})).find("not a finite number") != std::string::npos);
  CHECK(error_of(with_pieces({{"<0x41>", 0, 6}})).find("byte_fallback is off") != std::string::npos);
  const std::string fallback = kUnigram + integer_field(35, 1);
  CHECK(error_of(with_pieces({{"<0x4g>", 0, 6}}, fallback)).find("names no byte") != std::string::npos);
  CHECK(error_of(with_pieces({{"<0x41>", 0, 6}}, fallback)).find("byte 0 has no piece") != std::string::npos);
  CHECK(error_of(model_file({{"<unk>", 0, 2}}, kUnigram)).find("no normal piece") != std::string::npos);
  const auto word = hub_model(with_pieces({}, integer_field(3, 3))).load();
  CHECK(word.error().text().find("model_type is 3") != std::string::npos);
}

TEST_CASE("sentencepiece hostile: pieces that are no UTF-8 do no harm") {
  for (const uint64_t type : {1, 2}) {
    const auto tokenizer =
        hub_model(with_pieces({{"\xE2", -1, 1}, {"\x81", -1, 4}, {"\xE2\x96", -1, 1}, {"\xFF\xFF", -1, 5}},
                              integer_field(3, type)))
            .must_load();
    for (const std::string text : {"\xE2\x96\x81", "\xFF\xFF", "a\x81\xE2", "\u2581\u2581", "\xF0\x9F\x98"})
      for (const int32_t id : encode(*tokenizer, text)) CHECK((id >= 0 && id < tokenizer->pieces().size()));
  }
}

TEST_CASE("sentencepiece hostile: charsmaps") {
  const std::string text("x\0", 2);
  // 'a' (0x61) with a value: the root's offset is 0, the unit at 0x61 has the leaf at 0x61 ^ 1.
  std::vector<uint32_t> good(256);
  good[0x61] = 0x61 | 1u << 8 | 1u << 10;
  good[0x60] = 1u << 31;
  REQUIRE(charsmap_error(charsmap(good, text)).empty());
  const auto map = Charsmap::load(charsmap(good, text), "f");
  CHECK(map->find("ab").size == 1);
  CHECK(map->find("ab").replacement == "x");
  CHECK(map->find("b").size == 0);
  CHECK(charsmap_error("abc").find("f@0: precompiled_charsmap needs 4 bytes") == 0);
  CHECK(
      charsmap_error(std::string("\0\4\0\0", 4)).find("f@4: precompiled_charsmap's trie needs 1024 bytes") ==
      0);
  CHECK(charsmap_error(charsmap(good, text, 250)).find("not a multiple of 1024") != std::string::npos);
  CHECK(charsmap_error(charsmap(good, "x")).find("does not end with a NUL byte") != std::string::npos);
  CHECK(charsmap_error(charsmap(good, "")).find("does not end with a NUL byte") != std::string::npos);
  CHECK(charsmap_error(charsmap(good, std::string(513, 'x') + text)).find("replacement of 514 bytes") !=
        std::string::npos);
  std::vector<uint32_t> bad = good;
  bad[0x61] |= 0x1FFFFFu << 10;
  CHECK(charsmap_error(charsmap(bad, text))
            .find("f@392: precompiled_charsmap has a unit that points outside") == 0);
  bad = good;
  bad[0x60] = 1u << 31 | 2;
  CHECK(charsmap_error(charsmap(bad, text)).find("a value behind its replacements") != std::string::npos);
  bad[0x60] = 0;
  CHECK(charsmap_error(charsmap(bad, text)).find("a value that is none") != std::string::npos);
  bad = good;
  bad[0] = 1u << 31;
  CHECK(charsmap_error(charsmap(bad, text)).find("a value for a root") != std::string::npos);
  // A unit that is its own child: as deep as the text, no deeper.
  std::vector<uint32_t> loop(256);
  loop[0x61] = 0x61 | 0x61u << 10;
  const auto cyclic = Charsmap::load(charsmap(loop, text), "f");
  REQUIRE(cyclic);
  CHECK(cyclic->find(std::string(1000, 'a')).size == 0);
}

TEST_CASE("sentencepiece hostile: random damage ends in an error or in a tokenizer that works") {
  const char* given = std::getenv("MORTISE_SEED");
  const uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device()();
  INFO("MORTISE_SEED=" << seed);
  std::mt19937_64 rng(seed);
  const std::string good =
      read_file(std::string(MORTISE_TEST_DATA) + "/fixtures/tokenizers/spm-bpe/tokenizer.model");
  int loaded_count = 0;
  for (int round = 0; round < 300; ++round) {
    std::string file = good;
    for (uint64_t i = 0; i <= rng() % 3; ++i) file[rng() % file.size()] = static_cast<char>(rng());
    if (rng() % 4 == 0) file.resize(rng() % file.size());
    const auto loaded = hub_model(file).load();
    if (!loaded) {
      CHECK(!loaded.error().where.empty());
      continue;
    }
    ++loaded_count;
    for (const int32_t id : encode(**loaded, "Some text, 北京 \xFF <|im_end|> aaaa"))
      CHECK((id >= 0 && id < (*loaded)->pieces().size()));
  }
  CHECK(loaded_count > 0);
}
