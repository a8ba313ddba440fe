// An immutable reference-counted text: count and bytes are in one memory block.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

namespace troupe::api {

// As thread safe as shared_ptr: different threads may use different handles of the same text.
class shared_text {
 public:
  shared_text() noexcept = default;
  // Copies the bytes.
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
  // Valid while this or another handle of the text exists.
  std::string_view operator*() const noexcept { return {bytes_of(block_), block_->size}; }
  std::size_t size() const noexcept { return block_->size; }
  // The number of handles outside text_cells, if no other thread copies or drops one now.
  std::int64_t use_count() const noexcept {
    return block_->holders.load(std::memory_order_acquire);
  }
  void reset() noexcept { *this = {}; }
  // True for the same text, not for an equal one.
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

// A slot for one text: any thread gets a handle with one atomic operation while others fill or
// empty the slot.
//
// The word has the block's address and the number of handles taken here since the text was stored.
// The block's own count does not include them: raising it after the address was read could be too
// late, as the block may have been freed. Instead the block's count is raised by `cell_share` while
// the text is here, so dropped handles never bring it to zero. Emptying the slot adds both counts,
// and the last handle frees the block.
class text_cell {
 public:
  text_cell() noexcept = default;
  text_cell(const text_cell&) = delete;
  text_cell& operator=(const text_cell&) = delete;
  ~text_cell() { take(); }

  // Returns an empty text if the slot is empty.
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
  // Stores `made` if the slot is empty; returns the text in the slot.
  shared_text keep(shared_text made) noexcept;
  // Empties the slot.
  shared_text take() noexcept;

 private:
  // Addresses have 48 bits.
  static constexpr unsigned count_bits = 16;
  static constexpr std::uint64_t count_mask = (std::uint64_t{1} << count_bits) - 1;
  // From here on each get() moves the count to the block. An overflow would need as many threads
  // between the two steps at once.
  static constexpr std::uint64_t many = std::uint64_t{1} << (count_bits - 1);
  static constexpr std::int64_t cell_share = std::int64_t{1} << 48;

  static shared_text::block* block_of(std::uint64_t word) noexcept {
    return reinterpret_cast<shared_text::block*>(word >> count_bits);
  }
  void hand_over(shared_text::block* held) const noexcept;

  mutable std::atomic<std::uint64_t> word_{0};
};

}  // namespace troupe::api
