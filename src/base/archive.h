// Archive: one walk over a value's fields that saves it, loads it or hashes it. Types that take part have
// `void visit(Archive& archive) { archive(a_, b_); }`. Used for the scheduler's state, event logs and fingerprints.
#pragma once
#include <array>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/id.h"
#include "base/money.h"
#include "base/time.h"

namespace sluice {

class Archive {
 public:
  [[nodiscard]] static Archive saving(std::string& out) { return Archive(&out, {}, nullptr); }
  [[nodiscard]] static Archive loading(std::string_view in) { return Archive(nullptr, in, nullptr); }
  [[nodiscard]] static Archive hashing(Hash& hash) { return Archive(nullptr, {}, &hash); }

  [[nodiscard]] bool is_loading() const { return out_ == nullptr && hash_ == nullptr; }
  // Loading: false once the input was too short or made no sense; values read after that are zero.
  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] bool at_end() const { return in_.empty(); }
  void fail() { ok_ = false; }

  template <class... Values>
  void operator()(Values&... values) {
    (value(values), ...);
  }

 private:
  Archive(std::string* out, std::string_view in, Hash* hash) : out_(out), in_(in), hash_(hash) {}

  void raw(void* data, std::size_t size) {
    if (out_ != nullptr) {
      out_->append(static_cast<const char*>(data), size);
    } else if (hash_ != nullptr) {
      hash_->add(std::string_view(static_cast<const char*>(data), size));
    } else if (!ok_ || in_.size() < size) {
      ok_ = false;
      std::memset(data, 0, size);
    } else {
      std::memcpy(data, in_.data(), size);
      in_.remove_prefix(size);
    }
  }
  // The length of a list; a hostile one cannot ask for more elements than there are bytes left.
  std::size_t length(std::size_t size) {
    auto count = static_cast<std::uint64_t>(size);
    raw(&count, sizeof count);
    if (!is_loading()) return size;
    if (count > in_.size()) ok_ = false;
    return ok_ ? static_cast<std::size_t>(count) : 0;
  }

  template <class T>
  requires(std::is_arithmetic_v<T> || std::is_enum_v<T>) void value(T& v) { raw(&v, sizeof v); }
  template <class Tag, class Rep>
  void value(Id<Tag, Rep>& id) {
    Rep rep = id.value();
    raw(&rep, sizeof rep);
    id = Id<Tag, Rep>(rep);
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
    if (is_loading()) list.assign(size, T{});
    for (T& item : list) value(item);
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
    for (std::size_t i = 0; i < size && ok_; ++i) {
      std::pair<K, V> entry;
      value(entry);
      map.insert(std::move(entry));
    }
  }
  template <class T>
  requires requires(T& v, Archive& a) { v.visit(a); }
  void value(T& v) { v.visit(*this); }

  std::string* out_;
  std::string_view in_;
  Hash* hash_;
  bool ok_ = true;
};

}  // namespace sluice
