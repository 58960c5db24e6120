// See protobuf.h. Thread rule: a value, one thread at a time. Flow: load time.
#include "sentencepiece/protobuf.h"

#include <cstring>

namespace mortise::sentencepiece {

Message::Message(std::string_view bytes, uint64_t begin, std::string where)
    : reader_(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size(), std::move(where)),
      begin_(begin) {}

tl::unexpected<Error> Message::bad_here(std::string message) const {
  return fail(Code::bad_data, reader_.where(), std::move(message) + "; the file is truncated or damaged",
              begin_ + reader_.offset());
}

tl::unexpected<Error> Message::bad(const Field& field, std::string message) const {
  return fail(Code::bad_data, reader_.where(), std::move(message), field.offset);
}

Result<uint64_t> Message::varint(std::string_view what) {
  uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (reader_.left() == 0) return bad_here(std::string(what) + " is cut off");
    MORTISE_TRY(byte, reader_.read<uint8_t>(what));
    value |= static_cast<uint64_t>(byte & 0x7F) << shift;
    if (byte < 0x80) return value;
  }
  return bad_here(std::string(what) + " is a number of more than 64 bits");
}

Result<Field> Message::next() {
  Field field;
  field.offset = begin_ + reader_.offset();
  MORTISE_TRY(tag, varint("a field's tag"));
  field.number = static_cast<uint32_t>(tag >> 3);
  field.wire = static_cast<Wire>(tag & 7);
  if (tag >> 32 != 0 || field.number == 0)
    return bad(field, "holds no field's tag; is it a SentencePiece model?");
  const std::string what = "field " + std::to_string(field.number);
  const auto fixed = [&](uint64_t size) -> Result<void> {
    if (reader_.left() < size) return bad_here(what + " is cut off");
    MORTISE_TRY(bytes, reader_.take(size, what));
    std::memcpy(&field.value, bytes.data(), bytes.size());
    return {};
  };
  switch (field.wire) {
    case Wire::varint: {
      MORTISE_TRY(value, varint(what));
      field.value = value;
      return field;
    }
    case Wire::fixed64:
      MORTISE_CHECK(fixed(8));
      return field;
    case Wire::fixed32:
      MORTISE_CHECK(fixed(4));
      return field;
    case Wire::bytes: {
      MORTISE_TRY(size, varint(what));
      if (size > reader_.left())
        return bad_here(what + " needs " + std::to_string(size) + " bytes, but only " +
                        std::to_string(reader_.left()) + " are left");
      field.begin = begin_ + reader_.offset();
      MORTISE_TRY(bytes, reader_.take(size, what));
      field.bytes = bytes;
      return field;
    }
  }
  return bad(field, what + " has wire type " + std::to_string(tag & 7) +
                        ", which no SentencePiece model uses; is it one?");
}

Result<void> Message::expect(const Field& field, Wire wire, std::string_view what) const {
  if (field.wire == wire) return {};
  return bad(field, std::string(what) + " has wire type " +
                        std::to_string(static_cast<uint32_t>(field.wire)) + " instead of " +
                        std::to_string(static_cast<uint32_t>(wire)) + "; is it a SentencePiece model?");
}

Result<std::string_view> Message::bytes(const Field& field, std::string_view what) const {
  MORTISE_CHECK(expect(field, Wire::bytes, what));
  return field.bytes;
}

Result<int64_t> Message::integer(const Field& field, std::string_view what) const {
  MORTISE_CHECK(expect(field, Wire::varint, what));
  return static_cast<int64_t>(field.value);
}

Result<bool> Message::boolean(const Field& field, std::string_view what) const {
  MORTISE_CHECK(expect(field, Wire::varint, what));
  return field.value != 0;
}

Result<float> Message::number(const Field& field, std::string_view what) const {
  MORTISE_CHECK(expect(field, Wire::fixed32, what));
  const auto bits = static_cast<uint32_t>(field.value);
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

Result<Message> Message::message(const Field& field, std::string_view what) const {
  MORTISE_CHECK(expect(field, Wire::bytes, what));
  return Message(field.bytes, field.begin, reader_.where());
}

}  // namespace mortise::sentencepiece
