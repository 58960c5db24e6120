// See bpe.h. Thread rule: any thread, each with its own scratch. Flow: the inner loops of encoding.
#include "bpe.h"

#include <algorithm>
#include <bit>
#include <functional>

namespace mortise::sentencepiece {
namespace {

// Up to here a scan over all joins costs less than the heap.
constexpr size_t kShortWord = 32;

constexpr uint32_t kNowhere = UINT32_MAX;
constexpr int32_t kCharacter = -2;  // a symbol that is still one character
constexpr uint32_t kNoJoin = UINT32_MAX;

// Bits whose order as integers is the scores' order, turned round. No finite score becomes kNoJoin.
uint32_t key_of(float score) {
  const auto bits = std::bit_cast<uint32_t>(score + 0.0f);  // -0 becomes 0
  return ~(bits >> 31 != 0 ? ~bits : bits | 0x80000000u);
}

uint64_t heap_entry(uint32_t key, uint32_t at) { return static_cast<uint64_t>(key) << 32 | at; }

// True where joins could make the text: it falls into two symbols, each a character or a piece.
bool can_be_joined(std::string_view text, const Pieces& pieces) {
  for (size_t at = character_size(text); at < text.size(); at += character_size(text.substr(at))) {
    const std::string_view left = text.substr(0, at), right = text.substr(at);
    const auto is_symbol = [&](std::string_view part) {
      return character_size(part) == part.size() || pieces.find(part) != kNoPiece;
    };
    if (is_symbol(left) && is_symbol(right)) return true;
  }
  return false;
}

}  // namespace

void Bpe::mark_joins(std::string_view text) {
  for (size_t at = text.find(kSpaceMark); at != std::string_view::npos; at = text.find(kSpaceMark, at + 1)) {
    const size_t behind = at + kSpaceMark.size();
    if (at > 0) joins_before_[static_cast<uint8_t>(text[at - 1])] = true;
    if (behind < text.size()) joins_behind_[static_cast<uint8_t>(text[behind])] = true;
  }
}

Bpe Bpe::load(const Pieces& pieces, const Trie& user_defined) {
  Bpe out;
  for (int32_t id = 0; id < pieces.size(); ++id) {
    out.keys_.push_back(key_of(pieces.score(id)));
    const std::string_view text = pieces.text(id);
    if (text.empty() || pieces.find(text) != id) continue;
    out.mark_joins(text);
    out.is_whole_ = out.is_whole_ || (pieces.type(id) == PieceType::unused && can_be_joined(text, pieces));
  }
  for (unsigned byte = 0; byte < 256; ++byte) out.stops_[byte] = user_defined.begins(static_cast<char>(byte));
  out.stops_[static_cast<uint8_t>(kSpaceMark[0])] = true;
  return out;
}

void Bpe::encode(std::string_view text, const Pieces& pieces, const Trie& user_defined, Scratch* scratch,
                 std::vector<int32_t>* ids) const {
  const size_t first = ids->size();
  if (is_whole_) return encode_whole(text, pieces, user_defined, first, scratch, ids);
  size_t begin = 0, at = 0;
  const auto end_word = [&](size_t end) {
    if (end > begin) encode_word(text.substr(begin, end - begin), pieces, first, scratch, ids);
    begin = end;
  };
  while (at < text.size()) {
    if (!stops_[static_cast<uint8_t>(text[at])]) {
      at += character_size(text.substr(at));
      continue;
    }
    int32_t id = kNoPiece;
    if (const size_t size = user_defined.longest(text.substr(at), &id)) {
      end_word(at);
      pieces.append(id, first, ids);
      begin = at += size;
    } else if (text.substr(at, kSpaceMark.size()) == kSpaceMark) {
      if (at > begin && !joins_before_[static_cast<uint8_t>(text[at - 1])]) end_word(at);
      at += kSpaceMark.size();
      if (at < text.size() && !joins_behind_[static_cast<uint8_t>(text[at])]) end_word(at);
    } else {
      at += character_size(text.substr(at));
    }
  }
  end_word(text.size());
}

void Bpe::encode_word(std::string_view word, const Pieces& pieces, size_t first, Scratch* scratch,
                      std::vector<int32_t>* ids) const {
  const std::span<const int32_t> known = scratch->cache.find(word);
  if (known.data() != nullptr) {
    for (const int32_t id : known) pieces.append(id, first, ids);
    return;
  }
  scratch->begins.clear();
  scratch->ids.clear();
  for (size_t at = 0; at < word.size(); at += character_size(word.substr(at))) {
    scratch->begins.push_back(static_cast<uint32_t>(at));
    scratch->ids.push_back(kCharacter);
  }
  scratch->begins.push_back(static_cast<uint32_t>(word.size()));
  if (scratch->ids.size() <= kShortWord)
    merge_short(word, pieces, scratch);
  else
    merge_long(word, pieces, scratch);
  scratch->word.clear();
  for (size_t i = 0; i < scratch->ids.size(); ++i) {
    const uint32_t begin = scratch->begins[i];
    const std::string_view symbol = word.substr(begin, scratch->begins[i + 1] - begin);
    const int32_t id = scratch->ids[i] == kCharacter ? pieces.find(symbol) : scratch->ids[i];
    if (id != kNoPiece && pieces.type(id) != PieceType::unused)
      scratch->word.push_back(id);
    else
      pieces.append_unknown(symbol, 0, &scratch->word);
  }
  scratch->cache.put(word, scratch->word);
  for (const int32_t id : scratch->word) pieces.append(id, first, ids);
}

// Of an unused piece SentencePiece keeps by which join it was last thought of anywhere in the text, and takes
// it apart that way. So the text is one word, user-defined pieces and all.
void Bpe::encode_whole(std::string_view text, const Pieces& pieces, const Trie& user_defined, size_t first,
                       Scratch* scratch, std::vector<int32_t>* ids) const {
  scratch->halves.clear();
  scratch->begins.clear();
  scratch->ids.clear();
  for (size_t at = 0, size = 0; at < text.size(); at += size) {
    int32_t id = kCharacter;
    size = user_defined.longest(text.substr(at), &id);
    if (size == 0) size = character_size(text.substr(at));
    scratch->begins.push_back(static_cast<uint32_t>(at));
    scratch->ids.push_back(id);
  }
  scratch->begins.push_back(static_cast<uint32_t>(text.size()));
  merge_long(text, pieces, scratch);
  std::vector<std::string_view> left;
  for (size_t i = 0; i < scratch->ids.size(); ++i) {
    left.push_back(text.substr(scratch->begins[i], scratch->begins[i + 1] - scratch->begins[i]));
    while (!left.empty()) {
      const std::string_view symbol = left.back();
      left.pop_back();
      const int32_t id = pieces.find(symbol);
      const auto half = scratch->halves.find(symbol);
      if (id != kNoPiece && pieces.type(id) != PieceType::unused) {
        pieces.append(id, first, ids);
      } else if (half == scratch->halves.end()) {
        pieces.append_unknown(symbol, first, ids);
      } else {
        left.push_back(symbol.substr(half->second));
        left.push_back(symbol.substr(0, half->second));
      }
    }
  }
  scratch->halves.clear();
}

// The join that makes `text`, whose left part has `left` bytes.
Bpe::Join Bpe::find(std::string_view text, size_t left, const Pieces& pieces, Scratch* scratch) const {
  if (text.size() > pieces.longest()) return {};
  const int32_t id = pieces.find(text);
  if (id == kNoPiece) return {};
  if (is_whole_ && pieces.type(id) == PieceType::unused) scratch->halves[text] = static_cast<uint32_t>(left);
  return {keys_[static_cast<size_t>(id)], id};
}

void Bpe::merge_short(std::string_view text, const Pieces& pieces, Scratch* scratch) const {
  std::vector<uint32_t>& begins = scratch->begins;
  std::vector<int32_t>& ids = scratch->ids;
  std::vector<Join>& joins = scratch->joins;  // joins[i]: of symbol i and the one behind it
  const auto find_at = [&](size_t i) {
    return find(text.substr(begins[i], begins[i + 2] - begins[i]), begins[i + 1] - begins[i], pieces,
                scratch);
  };
  joins.clear();
  for (size_t i = 0; i + 1 < ids.size(); ++i) joins.push_back(find_at(i));
  while (!joins.empty()) {
    const auto by_key = [](const Join& a, const Join& b) { return a.key < b.key; };
    const auto best = std::min_element(joins.begin(), joins.end(), by_key) - joins.begin();
    const auto at = static_cast<size_t>(best);
    if (joins[at].key == kNoJoin) return;
    ids[at] = joins[at].id;
    ids.erase(ids.begin() + best + 1);
    begins.erase(begins.begin() + best + 1);
    joins.erase(joins.begin() + best);
    if (at > 0) joins[at - 1] = find_at(at - 1);
    if (at < joins.size()) joins[at] = find_at(at);
  }
}

// A list over the symbols and a heap of the joins. Entries aren't taken out when a neighbour changes: one
// counts only while the join at its place still has its key. A symbol that has its id is never joined.
void Bpe::merge_long(std::string_view text, const Pieces& pieces, Scratch* scratch) const {
  std::vector<uint32_t>&begins = scratch->begins, &next = scratch->next, &previous = scratch->previous;
  std::vector<int32_t>& ids = scratch->ids;
  std::vector<uint64_t>& heap = scratch->heap;
  std::vector<Join>& joins = scratch->joins;
  const auto count = static_cast<uint32_t>(ids.size());
  next.resize(count + 1);
  previous.resize(count + 1);
  joins.assign(count, Join());
  heap.clear();
  std::vector<bool> is_frozen(count);
  for (uint32_t i = 0; i < count; ++i) is_frozen[i] = ids[i] != kCharacter;
  for (uint32_t i = 0; i <= count; ++i) next[i] = i + 1, previous[i] = i == 0 ? kNowhere : i - 1;
  const auto renew = [&](uint32_t at) {
    const uint32_t right = next[at];
    joins[at] = Join();
    if (right == count || is_frozen[at] || is_frozen[right]) return;
    const uint32_t begin = begins[at];
    joins[at] = find(text.substr(begin, begins[next[right]] - begin), begins[right] - begin, pieces, scratch);
    if (joins[at].key != kNoJoin) heap.push_back(heap_entry(joins[at].key, at));
  };
  for (uint32_t i = 0; i < count; ++i) renew(i);
  std::make_heap(heap.begin(), heap.end(), std::greater<>());
  const auto renew_in_heap = [&](uint32_t at) {
    const size_t before = heap.size();
    renew(at);
    if (heap.size() != before) std::push_heap(heap.begin(), heap.end(), std::greater<>());
  };
  while (!heap.empty()) {
    std::pop_heap(heap.begin(), heap.end(), std::greater<>());
    const auto at = static_cast<uint32_t>(heap.back());
    const auto key = static_cast<uint32_t>(heap.back() >> 32);
    heap.pop_back();
    if (joins[at].key != key) continue;
    const uint32_t gone = next[at];
    ids[at] = joins[at].id;
    joins[gone] = Join();
    next[at] = next[gone];
    previous[next[at]] = at;
    if (previous[at] != kNowhere) renew_in_heap(previous[at]);
    renew_in_heap(at);
  }
  uint32_t kept = 0;
  for (uint32_t i = 0; i != count; i = next[i], ++kept) {
    ids[kept] = ids[i];
    begins[kept] = begins[i];
  }
  begins[kept] = begins[count];
  ids.resize(kept);
  begins.resize(kept + 1);
}

}  // namespace mortise::sentencepiece
