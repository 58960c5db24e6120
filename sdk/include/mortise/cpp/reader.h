// The bounds-checked reader: the only way in which code of this project takes outside bytes apart.
// Thread rule: a value, one thread at a time. Flow: used by every parser of a binary file.
#pragma once
#include <mortise/cpp/result.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

namespace mortise {
inline namespace v1 __attribute__((visibility("hidden"))) {

  /// Reads little-endian values from `size` bytes at `data`, which must outlive it. `where` (a file's name)
  /// and the offset stand in every error. A failed read moves nothing.
  class Reader {
   public:
    Reader(const uint8_t* data, uint64_t size, std::string where)
        : data_(data), size_(size), where_(std::move(where)) {}

    uint64_t offset() const { return at_; }
    uint64_t left() const { return size_ - at_; }
    const std::string& where() const { return where_; }

    /// An error at the present offset.
    tl::unexpected<Error> bad(std::string message) const { return bad_at(at_, std::move(message)); }
    tl::unexpected<Error> bad_at(uint64_t offset, std::string message) const {
      return fail(Code::bad_data, where_, std::move(message), offset);
    }

    /// An integer or float of T's width; `what` names the field in the error.
    template <class T>
    Result<T> read(std::string_view what) {
      static_assert(std::is_arithmetic_v<T>);
      MORTISE_TRY(bytes, take(sizeof(T), what));
      T value;
      std::memcpy(&value, bytes.data(), sizeof(T));
      return value;
    }

    /// `count` bytes, as a view into the data.
    Result<std::string_view> take(uint64_t count, std::string_view what) {
      if (count > left())
        return bad(std::string(what) + " needs " + std::to_string(count) + " bytes, but only " +
                   std::to_string(left()) + " are left; the file is truncated or damaged");
      std::string_view out(reinterpret_cast<const char*>(data_) + at_, static_cast<size_t>(count));
      at_ += count;
      return out;
    }

    /// Moves to an absolute offset within the data.
    Result<void> seek(uint64_t offset, std::string_view what) {
      if (offset > size_)
        return bad(std::string(what) + " lies at byte " + std::to_string(offset) + ", behind the end at " +
                   std::to_string(size_) + "; the file is truncated or damaged");
      at_ = offset;
      return {};
    }

   private:
    const uint8_t* data_;
    uint64_t size_;
    uint64_t at_ = 0;
    std::string where_;
  };

  /// a * b, or nothing where it does not fit.
  inline bool multiply(uint64_t a, uint64_t b, uint64_t * out) { return !__builtin_mul_overflow(a, b, out); }
  inline bool add(uint64_t a, uint64_t b, uint64_t * out) { return !__builtin_add_overflow(a, b, out); }

}  // namespace )
}  // namespace mortise
