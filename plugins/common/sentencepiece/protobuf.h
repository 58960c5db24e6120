// Protocol buffers' wire format, as much of it as a SentencePiece model uses.
// Thread rule: a value, one thread at a time. Flow: bytes of tokenizer.model -> fields -> model_file.cc.
//
// Source: protobuf.dev/programming-guides/encoding. Groups, which proto3 dropped, are refused.
#pragma once
#include <mortise/cpp/reader.h>

namespace mortise::sentencepiece {

enum class Wire : uint32_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

struct Field {
  uint32_t number = 0;
  Wire wire = Wire::varint;
  uint64_t offset = 0;     // of its tag, in the file
  uint64_t value = 0;      // varint, fixed32, fixed64
  std::string_view bytes;  // Wire::bytes
  uint64_t begin = 0;      // of those bytes, in the file
};

/// The fields of one message, in order. Errors carry the offset in the whole file.
class Message {
 public:
  /// `bytes` lie at `begin` of the file `where`.
  Message(std::string_view bytes, uint64_t begin, std::string where);

  bool done() const { return reader_.left() == 0; }
  Result<Field> next();
  /// An error at a field, which is named as `what`.
  tl::unexpected<Error> bad(const Field& field, std::string message) const;

  /// The value of a field that must have this wire type; `what` names it in the error.
  Result<std::string_view> bytes(const Field& field, std::string_view what) const;
  Result<int64_t> integer(const Field& field, std::string_view what) const;
  Result<bool> boolean(const Field& field, std::string_view what) const;
  Result<float> number(const Field& field, std::string_view what) const;
  Result<Message> message(const Field& field, std::string_view what) const;

 private:
  Result<uint64_t> varint(std::string_view what);
  Result<void> expect(const Field& field, Wire wire, std::string_view what) const;
  tl::unexpected<Error> bad_here(std::string message) const;

  Reader reader_;
  uint64_t begin_;
};

}  // namespace mortise::sentencepiece
