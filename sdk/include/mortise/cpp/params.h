// A plugin's parameters in one list: the struct, its declaration and the reading of values all come from it.
// Thread rule: plain values. Flow: used in a plugin's registration; the host checks TOML and requests by the
// declaration.
//
//   #define MY_PARAMS(MORTISE_PARAM) (one line, or continued by backslashes)
//     MORTISE_PARAM(float, top_p, "1.0", "(0,1]", request, "keep the likeliest tokens that make up top_p")
//   MORTISE_PARAMS(MyParams, MY_PARAMS);          // struct MyParams { .. double top_p; .. }
//
// Columns: type (bool, int, float, choice, string, list, map, json, duration, path, secret), name, default as
// TOML would write it or nullptr, range text or nullptr, where it may stand (config, request, both), one line
// of help.
#pragma once
#include <mortise/plugin.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

namespace mortise {
inline namespace v1 __attribute__((visibility("hidden"))) {
  namespace param {

  // What a field of each type is in the struct; an absent value without default leaves `is_set` false.
  template <class T, uint32_t type>
  struct Field {
    T value{};
    bool is_set = false;
    operator T() const { return value; }
    static constexpr uint32_t kType = type;
  };
  struct Items {
    const mortise_value* items = nullptr;
    const mortise_str* keys = nullptr;
    size_t count = 0;
  };
  using bool_t = Field<bool, MORTISE_BOOL>;
  using int_t = Field<int64_t, MORTISE_INT>;
  using float_t = Field<double, MORTISE_FLOAT>;
  using choice_t = Field<std::string_view, MORTISE_ENUM>;
  using string_t = Field<std::string_view, MORTISE_STRING>;
  using list_t = Field<Items, MORTISE_LIST>;
  using map_t = Field<Items, MORTISE_MAP>;
  using json_t = Field<std::string_view, MORTISE_JSON>;
  using duration_t = Field<int64_t, MORTISE_DURATION>;
  using path_t = Field<std::string_view, MORTISE_PATH>;
  using secret_t = Field<std::string_view, MORTISE_SECRET>;

  inline constexpr uint32_t config = MORTISE_PARAM_CONFIG;
  inline constexpr uint32_t request = MORTISE_PARAM_REQUEST;
  inline constexpr uint32_t both = MORTISE_PARAM_CONFIG | MORTISE_PARAM_REQUEST;

  template <class T, uint32_t type>
  void read(const mortise_value& from, Field<T, type>* to) {
    to->is_set = from.is_set != 0;
    if constexpr (type == MORTISE_BOOL)
      to->value = from.i != 0;
    else if constexpr (type == MORTISE_INT || type == MORTISE_DURATION)
      to->value = from.i;
    else if constexpr (type == MORTISE_FLOAT)
      to->value = from.f;
    else if constexpr (type == MORTISE_LIST || type == MORTISE_MAP)
      to->value = {from.items, from.keys, from.count};
    else
      to->value = {from.s.data, from.s.size};
  }

  template <size_t N>
  constexpr std::array<const mortise_param*, N> pointers(const std::array<mortise_param, N>& all) {
    std::array<const mortise_param*, N> out{};
    for (size_t i = 0; i < N; ++i) out[i] = &all[i];
    return out;
  }

  }  // namespace param

  /// The parameters of a part that has none.
  struct NoParams {
    static NoParams from(const mortise_value*) { return {}; }
    static constexpr uint32_t count() { return 0; }
    static constexpr const mortise_param* const* declared() { return nullptr; }
  };

}  // namespace )
}  // namespace mortise

#define MORTISE_PARAM_FIELD_(type, name, fallback_, range_, place_, help_) ::mortise::param::type##_t name;
#define MORTISE_PARAM_READ_(type, name, fallback_, range_, place_, help_) \
  ::mortise::param::read(*value++, &out.name);
#define MORTISE_PARAM_ROW_(type, name, fallback_, range_, place_, help_) \
  mortise_param{sizeof(mortise_param),                                   \
                ::mortise::param::type##_t::kType,                       \
                ::mortise::param::place_,                                \
                0,                                                       \
                #name,                                                   \
                fallback_,                                               \
                range_,                                                  \
                nullptr,                                                 \
                help_},

/// Defines `struct Name` with a field per row of LIST, Name::from(values) and the declaration.
#define MORTISE_PARAMS(Name, LIST)                                                             \
  inline constexpr __attribute__((visibility("hidden"))) auto Name##_rows =                    \
      std::to_array<mortise_param>({LIST(MORTISE_PARAM_ROW_)});                                \
  inline constexpr __attribute__((visibility("hidden"))) auto Name##_pointers =                \
      ::mortise::param::pointers(Name##_rows);                                                 \
  struct __attribute__((visibility("hidden"))) Name {                                          \
    LIST(MORTISE_PARAM_FIELD_)                                                                 \
    static Name from(const mortise_value* value) {                                             \
      Name out;                                                                                \
      LIST(MORTISE_PARAM_READ_)                                                                \
      return out;                                                                              \
    }                                                                                          \
    static constexpr uint32_t count() { return Name##_rows.size(); }                           \
    static constexpr const mortise_param* const* declared() { return Name##_pointers.data(); } \
  }
