// Archive: one walk over a value's fields that saves it, loads it or hashes it. Types that take part have
// `void visit(auto& archive) { archive(a_, b_); }`, enums a `last_of`. Used for the scheduler's state, event logs and
// fingerprints. Loading survives any input: what makes no sense fails it, and memory is bounded by the bytes there are.
#pragma once
#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/byte_stream.h"
#include "base/bytes.h"
#include "base/hash.h"
#include "base/id.h"
#include "base/money.h"
#include "base/time.h"

namespace sluice {

class Archive : public ByteStream {
 public:
  // Values inside values, so that hostile input cannot exhaust the stack. More than any document can ask for.
  static constexpr std::size_t kDepthMax = 256;

  [[nodiscard]] static Archive saving(std::string& out) { return Archive(&out, {}, nullptr); }
  [[nodiscard]] static Archive loading(std::string_view in) { return Archive(nullptr, in, nullptr); }
  [[nodiscard]] static Archive hashing(Hash& hash) { return Archive(nullptr, {}, &hash); }

  template <class... Values>
  void operator()(Values&... values) {
    (value(values), ...);
  }

 private:
  using ByteStream::ByteStream;

  template <class T>
  requires std::is_arithmetic_v<T>
  void value(T& v) { raw(&v, sizeof v); }
  void value(bool& flag) {
    auto byte = static_cast<std::uint8_t>(flag);
    raw(&byte, 1);
    if (!is_loading()) return;
    if (byte > 1) fail();
    flag = byte == 1;
  }
  // An enum that is saved has `constexpr E last_of(E)` beside it (a friend, where it is nested).
  template <class T>
  requires std::is_enum_v<T>
  void value(T& v) {
    constexpr auto kLast = static_cast<std::uint8_t>(last_of(T{}));
    static_assert(static_cast<T>(kLast) == last_of(T{}), "an enum is saved as one byte");
    auto byte = static_cast<std::uint8_t>(v);
    raw(&byte, 1);
    if (!is_loading()) return;
    if (byte > kLast) fail();
    v = static_cast<T>(byte > kLast ? 0 : byte);
  }
  template <class Tag, class Rep>
  void value(Id<Tag, Rep>& id) {
    Rep rep = id.value();
    raw(&rep, sizeof rep);
    if (is_loading()) id = Id<Tag, Rep>(rep);
  }
  void value(Time& t) {
    count(t, t.count_ns(), [](std::int64_t n) { return Time::from_ns(n); });
  }
  void value(Duration& d) {
    count(d, d.count_ns(), [](std::int64_t n) { return Duration::ns(n); });
  }
  void value(Bytes& b) {
    count(b, b.count(), [](std::int64_t n) { return Bytes(n); });
  }
  void value(PicoDollars& m) {
    count(m, m.count(), [](std::int64_t n) { return PicoDollars(n); });
  }
  template <class T, class Make>
  void count(T& v, std::int64_t n, Make make) {
    raw(&n, sizeof n);
    if (is_loading()) v = make(n);
  }
  void value(std::string& text) {
    const std::size_t size = length(text.size());
    if (is_loading()) text.resize(size);
    raw(text.data(), size);
  }
  template <class T>
  void value(std::vector<T>& list) {
    const std::size_t size = length(list.size());
    if (!is_loading()) {
      for (T& item : list) value(item);
      return;
    }
    list.clear();  // grows with what is there, not with what the length promises
    while (list.size() < size && ok()) value(list.emplace_back());
  }
  template <std::size_t N>
  void value(std::array<char, N>& text) {
    raw(text.data(), N);
  }
  template <class T, std::size_t N>
  void value(std::array<T, N>& list) {
    for (T& item : list) value(item);
  }
  template <class T>
  void value(std::optional<T>& v) {
    bool there = v.has_value();
    value(there);
    if (is_loading()) v = there ? std::optional<T>(T{}) : std::nullopt;
    if (v) value(*v);
  }
  template <class A, class B>
  void value(std::pair<A, B>& pair) {
    value(pair.first);
    value(pair.second);
  }
  template <class K, class V>
  void value(std::map<K, V>& map) {
    const std::size_t size = length(map.size());
    if (!is_loading()) {
      for (auto& [key, mapped] : map) {
        K copy = key;
        value(copy);
        value(mapped);
      }
      return;
    }
    map.clear();
    for (std::size_t i = 0; i < size && ok(); ++i) {
      std::pair<K, V> entry;
      value(entry);
      if (!map.empty() && !(map.rbegin()->first < entry.first)) return fail();  // saved in order, each key once
      map.insert(map.end(), std::move(entry));
    }
  }
  void value(std::monostate&) {}
  template <class... Ts>
  void value(std::variant<Ts...>& v) {
    static_assert(sizeof...(Ts) <= std::numeric_limits<std::uint8_t>::max());
    auto index = static_cast<std::uint8_t>(v.index());
    raw(&index, 1);
    if (index >= sizeof...(Ts)) return fail();
    if (is_loading()) emplace(v, index, std::index_sequence_for<Ts...>{});
    std::visit([this](auto& held) { this->value(held); }, v);
  }
  template <class Variant, std::size_t... I>
  static void emplace(Variant& v, std::size_t index, std::index_sequence<I...>) {
    ((index == I ? static_cast<void>(v.template emplace<I>()) : void()), ...);
  }
  // By value: what was shared is loaded as a copy of its own.
  template <class T>
  void value(std::shared_ptr<const T>& shared) {
    bool there = shared != nullptr;
    value(there);
    if (!there) {
      if (is_loading()) shared = nullptr;
    } else if (is_loading()) {
      auto loaded = std::make_shared<T>();
      value(*loaded);
      shared = std::move(loaded);
    } else {
      value(const_cast<T&>(*shared));  // saving and hashing only read
    }
  }
  template <class T>
  requires requires(T& v, Archive& a) { v.visit(a); }
  void value(T& v) {
    if (depth_ == kDepthMax) return fail();
    ++depth_;
    v.visit(*this);
    --depth_;
  }

  std::size_t depth_ = 0;
};

}  // namespace sluice
