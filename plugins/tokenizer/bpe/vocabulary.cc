// See vocabulary.h. Thread rule: immutable after load, any thread. Flow: load time; find() also while
// encoding.
#include "vocabulary.h"

#include "hash.h"
#include "tokenizer/byte_alphabet.h"

namespace mortise::bpe {

void Vocabulary::index(Spelling spelling) {
  seed_ = random_seed();
  slots_.assign(table_slots(texts_.size()), Slot());
  const size_t mask = slots_.size() - 1;
  for (int32_t id = 0; id < size(); ++id) {
    if (text(id).empty()) continue;
    const uint64_t hash = hash_bytes(text(id), seed_);
    const auto part = static_cast<uint32_t>(hash >> 32);
    size_t slot = hash & mask;
    const auto other = [&](const Slot& entry) { return entry.hash != part || text(entry.id) != text(id); };
    while (slots_[slot].id != kNoToken && other(slots_[slot])) slot = (slot + 1) & mask;
    if (slots_[slot].id == kNoToken) slots_[slot] = {id, part};
  }
  for (unsigned byte = 0; byte < 256; ++byte) {
    const char one = static_cast<char>(byte);
    std::string spelled(1, one);
    if (spelling == Spelling::alphabet) {
      spelled.clear();
      hub::append_spelling(std::string_view(&one, 1), &spelled);
    }
    byte_tokens_[byte] = find(spelled);
  }
}

int32_t Vocabulary::find(std::string_view text) const {
  const size_t mask = slots_.size() - 1;
  const uint64_t hash = hash_bytes(text, seed_);
  const auto part = static_cast<uint32_t>(hash >> 32);
  for (size_t slot = hash & mask; slots_[slot].id != kNoToken; slot = (slot + 1) & mask)
    if (slots_[slot].hash == part && this->text(slots_[slot].id) == text) return slots_[slot].id;
  return kNoToken;
}

}  // namespace mortise::bpe
