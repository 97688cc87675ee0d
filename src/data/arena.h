// Arena: shared memory in which the tensors of one tenant live (arenas.h has one for each). The server allocates and
// frees; workers map the same memory by its descriptor and are told offsets, so that between stages on a machine
// nothing is copied. Its size is sealed. A worker can write all of it at any time: whoever reads reads once, and with
// bounds.
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

namespace sluice::data {

class Arena;

// A stretch of an arena, freed when the last handle goes. Any thread may hold one.
class Block {
 public:
  Block() = default;
  [[nodiscard]] explicit operator bool() const { return extent_ != nullptr; }
  [[nodiscard]] std::size_t offset() const { return extent_->offset; }
  [[nodiscard]] std::size_t size() const { return extent_ == nullptr ? 0 : extent_->size; }
  [[nodiscard]] std::byte* data() const;
  [[nodiscard]] bool is_in(const Arena& arena) const { return extent_ == nullptr || extent_->arena.get() == &arena; }
  [[nodiscard]] std::span<std::byte> bytes() const { return {data(), size()}; }

 private:
  friend class Arena;
  struct Extent {
    std::shared_ptr<Arena> arena;
    std::size_t offset = 0, size = 0, taken = 0;
    Extent(std::shared_ptr<Arena> a, std::size_t o, std::size_t s, std::size_t t)
        : arena(std::move(a)), offset(o), size(s), taken(t) {}
    Extent(const Extent&) = delete;
    Extent& operator=(const Extent&) = delete;
    ~Extent();
  };
  explicit Block(std::shared_ptr<const Extent> extent) : extent_(std::move(extent)) {}
  std::shared_ptr<const Extent> extent_;
};

// What several arenas may take together.
struct Allowance {
  std::size_t max = 0;
  std::atomic<std::size_t> used = 0;
};

// Memory is reserved as addresses only; a page is taken when it is first written. First fit would fragment under mixed
// sizes: the smallest free stretch that is large enough is taken. O(log stretches).
class Arena : public std::enable_shared_from_this<Arena> {
 public:
  static constexpr std::size_t kAlignment = 64;

  struct Options {
    std::shared_ptr<Allowance> allowance;  // shared with others; null: none
    // Called when pages could be returned or should be made: somebody should call tend() soon, elsewhere, since that
    // takes long. Null: pages stay until the arena goes, and are made when they are needed.
    std::function<void(Arena&)> wants_tending;
  };
  [[nodiscard]] static Result<std::shared_ptr<Arena>> make(Bytes capacity) { return make(capacity, {}); }
  [[nodiscard]] static Result<std::shared_ptr<Arena>> make(Bytes capacity, Options options);
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // Nothing if no free stretch is large enough: the caller answers with back-pressure. Of zero bytes: a block of zero.
  [[nodiscard]] std::optional<Block> allocate(std::size_t bytes);
  // For inputs of a request, which is judged by the tenant's quota once it is whole: the limit does not hold.
  [[nodiscard]] std::optional<Block> allocate_input(std::size_t bytes) { return take(bytes, capacity_); }
  // Of what may be used, from now on; what is used stays.
  void limit(std::size_t most) { most_ = most; }

  // The pages of the block are there from now on, and counted as this process's, not as those of the worker that writes
  // them first. Usually they were made ahead, which costs nothing here.
  void populate(const Block& block);
  // Gives the pages of large stretches that were freed back to the system; makes some ahead where they will be needed.
  // Takes long. Any thread.
  void tend();
  // All pages are there and stay where they are from now on: a device has registered them, and would go on using the
  // old ones. The first time it takes long. Any thread.
  void pin();

  [[nodiscard]] int descriptor() const { return descriptor_; }
  [[nodiscard]] std::byte* base() const { return base_; }
  [[nodiscard]] std::size_t capacity() const { return capacity_; }
  [[nodiscard]] std::size_t used() const;

 private:
  Arena(int descriptor, std::byte* base, std::size_t capacity, Options options);
  friend class Block;
  void give_back(std::size_t offset, std::size_t taken);
  [[nodiscard]] std::optional<Block> take(std::size_t bytes, std::size_t most);
  [[nodiscard]] bool allowed(std::size_t taken);
  static constexpr std::size_t kSmall = 4096, kSmallKept = 256;  // bytes; stretches of a size
  [[nodiscard]] static std::size_t small_of(std::size_t taken) { return taken / kAlignment - 1; }
  // REQUIRES: mutex_ is held.
  [[nodiscard]] std::optional<std::size_t> take_any(std::size_t taken);  // nothing: no stretch is large enough
  void free_small();
  void add_free(std::size_t offset, std::size_t size);
  [[nodiscard]] bool take_free(std::size_t offset, std::size_t size);  // false: not all of it is free
  [[nodiscard]] bool populated(std::size_t begin, std::size_t end) const;
  void note_populated(std::size_t begin, std::size_t end);

  void return_pages();
  void populate_ahead();
  void make_pages(std::size_t begin, std::size_t end);

  struct Stretch {
    std::size_t offset = 0, size = 0;
  };

  int descriptor_;
  std::byte* base_;
  std::size_t capacity_;
  std::atomic<std::size_t> most_;  // see limit()
  Options options_;
  std::mutex tending_;  // held while pages are returned
  mutable std::mutex mutex_;
  bool pinned_ = false;                       // guarded by mutex_, as all below
  std::vector<Stretch> returnable_;           // freed, with pages; may have been taken again since
  std::size_t populated_ = 0;                 // all pages below were made, but those of the holes
  std::map<std::size_t, std::size_t> holes_;  // offset → size; returned since
  bool ahead_ = false;                        // pages should be made ahead
  std::size_t used_ = 0;
  std::array<std::vector<std::size_t>, kSmall / kAlignment>
      small_;                                                   // offsets of free stretches of up to kSmall, by size
  std::map<std::size_t, std::size_t> free_;                     // offset → size; the others
  std::set<std::pair<std::size_t, std::size_t>> free_by_size_;  // size, offset
};

}  // namespace sluice::data
