// Typed metadata of a model: a value of the right type and range, or an error that names the key.
// Thread rule: pure over a mortise_model. Flow: used by arch, tokenizer and chat plugins while they read a
// model.
#pragma once
#include <mortise/cpp/result.h>
#include <mortise/weights.h>

#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mortise {
inline namespace v1 __attribute__((visibility("hidden"))) {

  class Metadata {
   public:
    explicit Metadata(const mortise_model* model) : model_(model) {}

    bool has(std::string_view key) const {
      mortise_meta value;
      return model_->meta(model_->ctx, str(key), &value) == MORTISE_OK;
    }

    /// An integer in [low, high]; a scalar of any integer type. Absent: `fallback`, or an error without one.
    Result<int64_t> integer(std::string_view key, int64_t low, int64_t high,
                            std::optional<int64_t> fallback = std::nullopt) const {
      mortise_meta value;
      if (model_->meta(model_->ctx, str(key), &value) != MORTISE_OK) {
        if (fallback) return *fallback;
        return missing(key);
      }
      if (value.type != MORTISE_INT || value.is_array != 0 || value.count != 1)
        return bad(key, "is not an integer");
      const int64_t out = *static_cast<const int64_t*>(value.data);
      if (out < low || out > high)
        return bad(key, "= " + std::to_string(out) + " is not in [" + std::to_string(low) + ", " +
                            std::to_string(high) + "]");
      return out;
    }

    /// A finite number; an integer will do.
    Result<double> number(std::string_view key, std::optional<double> fallback = std::nullopt) const {
      mortise_meta value;
      if (model_->meta(model_->ctx, str(key), &value) != MORTISE_OK) {
        if (fallback) return *fallback;
        return missing(key);
      }
      if ((value.type != MORTISE_FLOAT && value.type != MORTISE_INT) || value.is_array != 0 ||
          value.count != 1)
        return bad(key, "is not a number");
      const double out = value.type == MORTISE_FLOAT
                             ? *static_cast<const double*>(value.data)
                             : static_cast<double>(*static_cast<const int64_t*>(value.data));
      if (!std::isfinite(out)) return bad(key, "is not a finite number");
      return out;
    }

    /// A text, as a view that lives as long as the model.
    Result<std::string_view> text(std::string_view key,
                                  std::optional<std::string_view> fallback = std::nullopt) const {
      mortise_meta value;
      if (model_->meta(model_->ctx, str(key), &value) != MORTISE_OK) {
        if (fallback) return *fallback;
        return missing(key);
      }
      if (value.type != MORTISE_STRING || value.is_array != 0 || value.count != 1)
        return bad(key, "is not a text");
      return view(*static_cast<const mortise_str*>(value.data));
    }

    /// A truth value.
    Result<bool> boolean(std::string_view key, std::optional<bool> fallback = std::nullopt) const {
      mortise_meta value;
      if (model_->meta(model_->ctx, str(key), &value) != MORTISE_OK) {
        if (fallback) return *fallback;
        return missing(key);
      }
      if (value.type != MORTISE_BOOL || value.is_array != 0 || value.count != 1)
        return bad(key, "is not true or false");
      return *static_cast<const int64_t*>(value.data) != 0;
    }

    /// A list of finite numbers (truth values count as 0 and 1) of at most `count_max`; absent: empty.
    Result<std::vector<double>> numbers(std::string_view key, uint64_t count_max) const {
      MORTISE_TRY(value, list(key, count_max));
      std::vector<double> out;
      for (size_t i = 0; i < value.count; ++i) {
        if (value.type == MORTISE_FLOAT)
          out.push_back(static_cast<const double*>(value.data)[i]);
        else if (value.type == MORTISE_INT || value.type == MORTISE_BOOL)
          out.push_back(static_cast<double>(static_cast<const int64_t*>(value.data)[i]));
        if (out.size() != i + 1 || !std::isfinite(out.back())) return bad(key, "is not a list of numbers");
      }
      return out;
    }

    /// A list of at most `count_max` texts, as views that live as long as the model; absent: empty.
    Result<std::vector<std::string_view>> texts(std::string_view key, uint64_t count_max) const {
      MORTISE_TRY(value, list(key, count_max));
      if (value.count != 0 && value.type != MORTISE_STRING) return bad(key, "is not a list of texts");
      std::vector<std::string_view> out;
      for (size_t i = 0; i < value.count; ++i)
        out.push_back(view(static_cast<const mortise_str*>(value.data)[i]));
      return out;
    }

   private:
    Result<mortise_meta> list(std::string_view key, uint64_t count_max) const {
      mortise_meta value = {};
      if (model_->meta(model_->ctx, str(key), &value) != MORTISE_OK) return mortise_meta{};
      if (value.is_array == 0) return bad(key, "is not a list");
      if (value.count > count_max)
        return bad(key, "has " + std::to_string(value.count) + " entries; at most " +
                            std::to_string(count_max) + " are possible");
      return value;
    }
    static tl::unexpected<Error> missing(std::string_view key) {
      return bad(key, "is missing; the file is incomplete or of another kind");
    }
    static tl::unexpected<Error> bad(std::string_view key, const std::string& what) {
      return fail(Code::bad_data, std::string(key), what);
    }

    const mortise_model* model_;
  };

}  // namespace )
}  // namespace mortise
