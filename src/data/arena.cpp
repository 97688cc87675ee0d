#include "data/arena.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <utility>

#include "base/check.h"
#include "base/text.h"

namespace sluice::data {
namespace {

// The pages of stretches this large are handed back to the system when they are freed; smaller ones stay warm.
constexpr std::size_t kReturned = 4u << 20;
// Returned at a time: so much is neither free nor used meanwhile.
constexpr std::size_t kPiece = 16u << 20;

std::size_t rounded(std::size_t bytes) {
  return (bytes + Arena::kAlignment - 1) / Arena::kAlignment * Arena::kAlignment;
}

Error failed(const char* what, Bytes capacity) {
  return {ErrorCode::unavailable,
          str("shared memory of ", to_string(capacity), " cannot be made: ", what, ": ", std::strerror(errno))};
}

}  // namespace

std::byte* Block::data() const {
  return extent_ == nullptr ? nullptr : extent_->arena->base() + extent_->offset;
}

Block::Extent::~Extent() {
  arena->give_back(offset, taken);
}

// A worker that could shrink it would end the server at its next look.
Result<std::shared_ptr<Arena>> Arena::make(Bytes capacity, Options options) {
  const std::size_t bytes = rounded(static_cast<std::size_t>(capacity.count()));
  const int descriptor = ::memfd_create("sluice", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (descriptor < 0) return failed("memfd_create", capacity);
  const char* what = nullptr;
  void* base = MAP_FAILED;
  if (::ftruncate(descriptor, static_cast<off_t>(bytes)) != 0) {
    what = "ftruncate";
  } else if (::fcntl(descriptor, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    what = "sealing";
  } else {
    base = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, descriptor, 0);
    if (base == MAP_FAILED) what = "mmap";
  }
  if (what != nullptr) {
    const Error error = failed(what, capacity);
    ::close(descriptor);
    return error;
  }
  return std::shared_ptr<Arena>(new Arena(descriptor, static_cast<std::byte*>(base), bytes, std::move(options)));
}

Arena::Arena(int descriptor, std::byte* base, std::size_t capacity, Options options)
    : descriptor_(descriptor), base_(base), capacity_(capacity), most_(capacity), options_(std::move(options)) {
  free_.emplace(0, capacity);
  free_by_size_.emplace(capacity, 0);
}

Arena::~Arena() {
  ::munmap(base_, capacity_);
  ::close(descriptor_);
}

bool Arena::allowed(std::size_t taken) {
  if (options_.allowance == nullptr) return true;
  if (options_.allowance->used.fetch_add(taken) + taken <= options_.allowance->max) return true;
  options_.allowance->used.fetch_sub(taken);
  return false;
}

std::optional<Block> Arena::allocate(std::size_t bytes) {
  return take(bytes, most_);
}

std::optional<Block> Arena::take(std::size_t bytes, std::size_t most) {
  if (bytes > capacity_) return std::nullopt;
  const std::size_t taken = rounded(bytes);
  std::size_t offset = 0;
  if (taken > 0) {
    const std::lock_guard lock(mutex_);
    if (used_ + taken > most) return std::nullopt;
    if (!allowed(taken)) return std::nullopt;
    const auto found = take_any(taken);
    if (!found && options_.allowance != nullptr) options_.allowance->used.fetch_sub(taken);
    if (!found) return std::nullopt;
    offset = *found;
    used_ += taken;
  }
  return Block(std::make_shared<const Block::Extent>(shared_from_this(), offset, bytes, taken));
}

// What is small was most likely used a moment ago, and is wanted again in a moment: it does not go back into the order.
std::optional<std::size_t> Arena::take_any(std::size_t taken) {
  if (taken <= kSmall && !small_[small_of(taken)].empty()) {
    const std::size_t offset = small_[small_of(taken)].back();
    small_[small_of(taken)].pop_back();
    return offset;
  }
  auto best = free_by_size_.lower_bound({taken, 0});
  if (best == free_by_size_.end()) {
    free_small();
    best = free_by_size_.lower_bound({taken, 0});
    if (best == free_by_size_.end()) return std::nullopt;
  }
  const std::size_t offset = best->second;
  CHECK(take_free(offset, taken));
  return offset;
}

void Arena::free_small() {
  for (std::size_t i = 0; i < small_.size(); ++i) {
    for (const std::size_t offset : small_[i]) add_free(offset, (i + 1) * kAlignment);
    small_[i].clear();
  }
}

void Arena::give_back(std::size_t offset, std::size_t taken) {
  if (taken == 0) return;
  bool returns = false;
  {
    const std::lock_guard lock(mutex_);
    CHECK(used_ >= taken);
    used_ -= taken;
    if (taken <= kSmall && small_[small_of(taken)].size() < kSmallKept) {
      small_[small_of(taken)].push_back(offset);
    } else {
      add_free(offset, taken);
    }
    returns = taken >= kReturned && !pinned_ && options_.wants_tending != nullptr;
    if (returns) returnable_.push_back({offset, taken});
  }
  if (options_.allowance != nullptr) options_.allowance->used.fetch_sub(taken);
  if (returns) options_.wants_tending(*this);
}

void Arena::add_free(std::size_t offset, std::size_t size) {
  const auto after = free_.lower_bound(offset);
  if (after != free_.begin()) {
    const auto before = std::prev(after);
    if (before->first + before->second == offset) {
      offset = before->first;
      size += before->second;
      free_by_size_.erase({before->second, before->first});
      free_.erase(before);
    }
  }
  if (after != free_.end() && after->first == offset + size) {
    size += after->second;
    free_by_size_.erase({after->second, after->first});
    free_.erase(after);
  }
  free_.emplace(offset, size);
  free_by_size_.emplace(size, offset);
}

bool Arena::take_free(std::size_t offset, std::size_t size) {
  auto stretch = free_.upper_bound(offset);
  if (stretch == free_.begin()) return false;
  stretch = std::prev(stretch);
  const auto [begin, length] = *stretch;
  if (offset + size > begin + length) return false;
  free_by_size_.erase({length, begin});
  free_.erase(stretch);
  const Stretch before{begin, offset - begin}, after{offset + size, begin + length - offset - size};
  for (const Stretch& rest : {before, after}) {
    if (rest.size == 0) continue;
    free_.emplace(rest.offset, rest.size);
    free_by_size_.emplace(rest.size, rest.offset);
  }
  return true;
}

void Arena::tend() {
  const std::lock_guard one_at_a_time(tending_);
  return_pages();
  populate_ahead();
}

// A stretch that was taken again meanwhile keeps its pages.
void Arena::return_pages() {
  for (;;) {
    Stretch piece;
    {
      const std::lock_guard lock(mutex_);
      if (pinned_ || returnable_.empty()) return;
      Stretch& stretch = returnable_.back();
      piece = {stretch.offset, std::min(stretch.size, kPiece)};
      stretch = {stretch.offset + piece.size, stretch.size - piece.size};
      if (stretch.size == 0) returnable_.pop_back();
      if (!take_free(piece.offset, piece.size)) continue;
      if (piece.offset < populated_) holes_[piece.offset] = std::max(holes_[piece.offset], piece.size);
    }
    (void)::fallocate(descriptor_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(piece.offset),
                      static_cast<off_t>(piece.size));
    const std::lock_guard lock(mutex_);
    add_free(piece.offset, piece.size);
  }
}

void Arena::make_pages(std::size_t begin, std::size_t end) {
  (void)::madvise(base_ + begin, end - begin, MADV_POPULATE_WRITE);
}

bool Arena::populated(std::size_t begin, std::size_t end) const {
  if (end > populated_) return false;
  auto hole = holes_.upper_bound(begin);
  if (hole != holes_.begin() && std::prev(hole)->first + std::prev(hole)->second > begin) return false;
  return hole == holes_.end() || hole->first >= end;
}

// A hole of which only a part was filled stays one: pages are made again, which is quick where they are there.
void Arena::note_populated(std::size_t begin, std::size_t end) {
  if (begin <= populated_) populated_ = std::max(populated_, end);
  for (auto hole = holes_.lower_bound(begin); hole != holes_.end() && hole->first + hole->second <= end;) {
    hole = holes_.erase(hole);
  }
}

void Arena::populate(const Block& block) {
  static const auto kPage = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t begin = block.offset() / kPage * kPage;
  const std::size_t end = std::min(capacity_, (block.offset() + block.size() + kPage - 1) / kPage * kPage);
  bool there = false, wants = false;
  {
    const std::lock_guard lock(mutex_);
    there = populated(begin, end);
    wants = !ahead_ && end + kPiece / 2 > populated_ && populated_ < capacity_ && options_.wants_tending != nullptr;
    if (wants) ahead_ = true;
  }
  if (!there) {
    make_pages(begin, end);
    const std::lock_guard lock(mutex_);
    note_populated(begin, end);
  }
  if (wants) options_.wants_tending(*this);
}

void Arena::populate_ahead() {
  std::size_t begin = 0, end = 0;
  {
    const std::lock_guard lock(mutex_);
    if (!std::exchange(ahead_, false)) return;
    begin = populated_;
    end = std::min(capacity_, begin + kPiece);
  }
  make_pages(begin, end);
  const std::lock_guard lock(mutex_);
  note_populated(begin, end);
}

void Arena::pin() {
  {
    const std::lock_guard lock(mutex_);
    pinned_ = true;
    returnable_.clear();
  }
  const std::lock_guard not_any_more(tending_);
  {
    const std::lock_guard lock(mutex_);
    if (populated(0, capacity_)) return;
  }
  make_pages(0, capacity_);
  const std::lock_guard lock(mutex_);
  note_populated(0, capacity_);
}

std::size_t Arena::used() const {
  const std::lock_guard lock(mutex_);
  return used_;
}

}  // namespace sluice::data
