// How many fields a plain struct has, and how many of them its visit() names: a field that somebody adds and forgets to
// save makes the two differ.
#pragma once
#include <cstddef>
#include <optional>
#include <set>
#include <type_traits>
#include <utility>

namespace sluice {

template <class T>
inline constexpr bool kIsOptional = false;
template <class T>
inline constexpr bool kIsOptional<std::optional<T>> = true;

// Becomes whatever a field is. An optional is made from its value, else there would be two ways to make one.
struct AnyField {
  template <class T>
  requires(!kIsOptional<T>) operator T() const;  // never called
};

template <class T, std::size_t... I>
constexpr bool has_fields(std::index_sequence<I...>) {
  return requires {
    T{(static_cast<void>(I), AnyField{})...};
  };
}

// The most fields T can be given.
template <class T, std::size_t N = 24>
constexpr std::size_t field_count() {
  static_assert(std::is_aggregate_v<T>);
  if constexpr (N == 0 || has_fields<T>(std::make_index_sequence<N>{})) {
    return N;
  } else {
    return field_count<T, N - 1>();
  }
}

// Stands in for an Archive and counts what it is shown; the same field twice counts once.
struct FieldCounter {
  std::set<const void*> seen;
  template <class... Fields>
  void operator()(Fields&... fields) {
    (seen.insert(&fields), ...);
  }
};

template <class T>
std::size_t visited_count() {
  T value{};
  FieldCounter counter;
  value.visit(counter);
  return counter.seen.size();
}

}  // namespace sluice
