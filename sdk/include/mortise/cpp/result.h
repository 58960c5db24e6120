// Errors as values: Result<T> = T or Error, and the bridge to the C error struct.
// Thread rule: plain values. Flow: used by plugins and by the host alike.
#pragma once
#include <mortise/base.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace mortise {
inline namespace v1 __attribute__((visibility("hidden"))) {

  enum class Code : int32_t {
    ok = MORTISE_OK,
    unsupported = MORTISE_UNSUPPORTED,
    bad_argument = MORTISE_BAD_ARGUMENT,
    bad_data = MORTISE_BAD_DATA,
    no_memory = MORTISE_NO_MEMORY,
    io = MORTISE_IO,
    cancelled = MORTISE_CANCELLED,
    limit = MORTISE_LIMIT,
    not_found = MORTISE_NOT_FOUND,
    overloaded = MORTISE_OVERLOADED,
    internal = MORTISE_INTERNAL
  };

  /// What is wrong, where, and what to do. `where` is a file, key, argument or parameter, `offset` a byte
  /// offset in it (MORTISE_NO_OFFSET: none). `message` is one line: what is wrong; what to do.
  struct Error {
    Code code = Code::internal;
    std::string where;
    std::string message;
    uint64_t offset = MORTISE_NO_OFFSET;

    /// "where@offset: message", without the parts that are absent.
    std::string text() const {
      std::string out = where;
      if (offset != MORTISE_NO_OFFSET) out += "@" + std::to_string(offset);
      return out.empty() ? message : out + ": " + message;
    }
  };

  template <class T>
  using Result = tl::expected<T, Error>;

  inline tl::unexpected<Error> fail(Code code, std::string where, std::string message,
                                    uint64_t offset = MORTISE_NO_OFFSET) {
    return tl::unexpected<Error>(Error{code, std::move(where), std::move(message), offset});
  }

  /// Passes an Error out of a function that returns Result<U>.
  inline tl::unexpected<Error> pass(Error error) { return tl::unexpected<Error>(std::move(error)); }

  inline std::string_view view(mortise_str s) { return {s.data, s.size}; }
  inline mortise_str str(std::string_view s) { return {s.data(), s.size()}; }

  /// Fills a C error (null is allowed) and returns its code.
  inline mortise_status to_c(const Error& error, mortise_error* out) {
    if (out != nullptr && out->size >= sizeof(mortise_error)) {
      out->code = static_cast<int32_t>(error.code);
      out->offset = error.offset;
      std::snprintf(out->where, sizeof(out->where), "%s", error.where.c_str());
      std::snprintf(out->message, sizeof(out->message), "%s", error.message.c_str());
    }
    return static_cast<mortise_status>(error.code);
  }

  /// An empty C error, ready to be passed to a call.
  inline mortise_error c_error() {
    mortise_error error;
    std::memset(&error, 0, sizeof(error));
    error.size = sizeof(error);
    error.offset = MORTISE_NO_OFFSET;
    return error;
  }

  /// The C++ form of what a call left in a C error; a code outside the table becomes Code::internal.
  inline Error from_c(mortise_status status, const mortise_error& error) {
    Code code =
        status > MORTISE_OK && status <= MORTISE_INTERNAL ? static_cast<Code>(status) : Code::internal;
    const auto text = [](const char* p, size_t n) { return std::string(p, strnlen(p, n)); };
    std::string message = text(error.message, sizeof(error.message));
    if (message.empty()) message = "failed without a message (code " + std::to_string(status) + ")";
    return Error{code, text(error.where, sizeof(error.where)), std::move(message), error.offset};
  }

  /// Runs `body`, which returns Result<void>, behind the C boundary: no exception leaves.
  template <class Body>
  mortise_status guard(mortise_error * error, Body && body) noexcept {
    try {
      Result<void> done = body();
      return done ? MORTISE_OK : to_c(done.error(), error);
    } catch (const std::bad_alloc&) {
      return to_c(Error{Code::no_memory, "", "out of memory"}, error);
    } catch (const std::exception& e) {
      return to_c(Error{Code::internal, "", std::string("exception: ") + e.what()}, error);
    } catch (...) {
      return to_c(Error{Code::internal, "", "unknown exception"}, error);
    }
  }

}  // namespace )
}  // namespace mortise

/// MORTISE_TRY(name, expression): `name` becomes the value, or the function returns the error.
#define MORTISE_TRY(name, ...)                                                    \
  auto name##_result_ = (__VA_ARGS__);                                            \
  if (!name##_result_) return ::mortise::pass(std::move(name##_result_.error())); \
  auto& name = *name##_result_

/// MORTISE_CHECK(expression): returns the error of a Result<void>.
#define MORTISE_CHECK(...)                                                          \
  do {                                                                              \
    auto mortise_check_ = (__VA_ARGS__);                                            \
    if (!mortise_check_) return ::mortise::pass(std::move(mortise_check_.error())); \
  } while (false)
