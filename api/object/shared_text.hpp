// A text that many hold and nobody changes: its count and its bytes are one block of memory.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

namespace troupe::api {

// Thread safe as a shared_ptr is: different handles of one text may be used by different threads.
class shared_text {
 public:
  shared_text() noexcept = default;
  // A copy of the bytes.
  explicit shared_text(std::string_view bytes);
  shared_text(const shared_text& other) noexcept : block_{other.block_} {
    if (block_ != nullptr) block_->holders.fetch_add(1, std::memory_order_relaxed);
  }
  shared_text(shared_text&& other) noexcept : block_{std::exchange(other.block_, nullptr)} {}
  shared_text& operator=(shared_text other) noexcept {
    std::swap(block_, other.block_);
    return *this;
  }
  ~shared_text() {
    if (block_ != nullptr) release(block_);
  }

  explicit operator bool() const noexcept { return block_ != nullptr; }
  // Valid as long as this or another handle of the text.
  std::string_view operator*() const noexcept { return {bytes_of(block_), block_->size}; }
  std::size_t size() const noexcept { return block_->size; }
  // Of handles that are not in a text_cell, if nobody else takes or drops one now.
  std::int64_t use_count() const noexcept {
    return block_->holders.load(std::memory_order_acquire);
  }
  void reset() noexcept { *this = {}; }
  // The same text, not an equal one.
  friend bool operator==(const shared_text& a, const shared_text& b) noexcept {
    return a.block_ == b.block_;
  }

 private:
  friend class text_cell;

  struct block {
    std::atomic<std::int64_t> holders{1};
    std::size_t size = 0;
  };

  explicit shared_text(block* held) noexcept : block_{held} {}
  static const char* bytes_of(const block* b) noexcept {
    return reinterpret_cast<const char*>(b + 1);
  }
  static void release(block* held) noexcept {
    if (held->holders.fetch_sub(1, std::memory_order_acq_rel) == 1) destroy(held);
  }
  static void destroy(block* unheld) noexcept;

  block* block_ = nullptr;
};

// A place for one text, from which any thread takes a handle with one atomic operation while others
// fill it or empty it.
//
// The word has the address of the block and how many handles were taken here since the text came.
// Those are not in the block's own count, which would have to be raised after the address was read,
// when the block may be gone. The block's count is high by `cell_share` instead while it is here,
// so that handles that are dropped never bring it to zero; who empties the place brings both counts
// together, and the last handle frees the block.
class text_cell {
 public:
  text_cell() noexcept = default;
  text_cell(const text_cell&) = delete;
  text_cell& operator=(const text_cell&) = delete;
  ~text_cell() { take(); }

  // Empty when nothing is here.
  shared_text get() const noexcept {
    auto word = word_.load(std::memory_order_relaxed);
    do {
      if (word == 0) return {};
    } while (!word_.compare_exchange_weak(word, word + 1, std::memory_order_acquire,
                                          std::memory_order_relaxed));
    auto* const block = block_of(word);
    if ((word & count_mask) >= many) hand_over(block);
    return shared_text{block};
  }
  // Puts `made` here if nothing is; gives what is here then.
  shared_text keep(shared_text made) noexcept;
  // Empties it.
  shared_text take() noexcept;

 private:
  // Addresses of a process have 48 bits.
  static constexpr unsigned count_bits = 16;
  static constexpr std::uint64_t count_mask = (std::uint64_t{1} << count_bits) - 1;
  // From here on each that takes a handle moves the count over: for it to overflow so many threads
  // would have to be between the two at once.
  static constexpr std::uint64_t many = std::uint64_t{1} << (count_bits - 1);
  static constexpr std::int64_t cell_share = std::int64_t{1} << 48;

  static shared_text::block* block_of(std::uint64_t word) noexcept {
    return reinterpret_cast<shared_text::block*>(word >> count_bits);
  }
  void hand_over(shared_text::block* held) const noexcept;

  mutable std::atomic<std::uint64_t> word_{0};
};

}  // namespace troupe::api
