#include "api/object/shared_text.hpp"

#include <algorithm>
#include <new>

#include "api/invariant.hpp"

namespace troupe::api {

shared_text::shared_text(std::string_view bytes)
    : block_{new (::operator new(sizeof(block) + bytes.size())) block} {
  block_->size = bytes.size();
  // Unlike memcpy, also for no bytes at the address null.
  std::copy(bytes.begin(), bytes.end(), const_cast<char*>(bytes_of(block_)));
}

void shared_text::destroy(block* unheld) noexcept {
  const auto size = sizeof(block) + unheld->size;
  unheld->~block();
#ifdef __cpp_sized_deallocation
  ::operator delete(unheld, size);
#else  // clang, for the fuzzers
  static_cast<void>(size);
  ::operator delete(unheld);
#endif
}

shared_text text_cell::keep(shared_text made) noexcept {
  const auto word = reinterpret_cast<std::uintptr_t>(made.block_) << count_bits;
  ensure(block_of(word) == made.block_, "an address has 48 bits");
  auto& holders = made.block_->holders;
  for (;;) {
    // Before other threads can get it from here.
    holders.fetch_add(cell_share, std::memory_order_relaxed);
    std::uint64_t nothing = 0;
    if (word_.compare_exchange_strong(nothing, word, std::memory_order_release,
                                      std::memory_order_relaxed))
      return made;
    holders.fetch_sub(cell_share, std::memory_order_relaxed);  // `made` still holds the text
    if (auto known = get()) return known;
  }
}

shared_text text_cell::take() noexcept {
  const auto word = word_.exchange(0, std::memory_order_acq_rel);
  if (word == 0) return {};
  auto* const block = block_of(word);
  const auto taken = static_cast<std::int64_t>(word & count_mask);
  // One handle is ours: the count cannot reach zero here.
  block->holders.fetch_add(taken + 1 - cell_share, std::memory_order_acq_rel);
  return shared_text{block};
}

// The caller has a handle, so the block lives. Its count is raised before that of the
// slot is lowered; if another thread empties the slot in between, the raise is
// undone.
void text_cell::hand_over(shared_text::block* held) const noexcept {
  auto word = word_.load(std::memory_order_relaxed);
  while (block_of(word) == held && (word & count_mask) >= many) {
    const auto count = static_cast<std::int64_t>(word & count_mask);
    held->holders.fetch_add(count, std::memory_order_relaxed);
    if (word_.compare_exchange_weak(word, word & ~count_mask, std::memory_order_acq_rel,
                                    std::memory_order_relaxed))
      return;
    held->holders.fetch_sub(count, std::memory_order_relaxed);
  }
}

}  // namespace troupe::api
