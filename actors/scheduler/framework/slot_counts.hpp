// Counters by node slot. Most are zero; a page is allocated while one of its counters is not.
// Thousands are read for each pod, for which a hash table has too many cache misses.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace troupe::actors::scheduler {

class slot_counts {
 public:
  bool empty() const noexcept { return slots_ == 0; }

  std::int64_t at(std::uint32_t slot) const noexcept {
    const auto number = slot / page_slots;
    if (number >= pages_.size() || pages_[number] == nullptr) return 0;
    return pages_[number]->counts[slot % page_slots];
  }

  void add(std::uint32_t slot, std::int32_t by) {
    const auto number = slot / page_slots;
    if (number >= pages_.size()) pages_.resize(number + 1);
    auto& found = pages_[number];
    if (found == nullptr) found = std::make_unique<page>();
    auto& count = found->counts[slot % page_slots];
    const auto had = count != 0;
    count += by;
    const auto has = count != 0;
    found->used += has - had;
    slots_ += static_cast<std::size_t>(has) - static_cast<std::size_t>(had);
    if (found->used == 0) found.reset();
  }

  // Calls use(slot, count) for each counter that is not zero.
  template <class F>
  void each(F use) const {
    for (std::size_t number = 0; number < pages_.size(); ++number)
      for (std::size_t i = 0; pages_[number] != nullptr && i < page_slots; ++i)
        if (const auto count = pages_[number]->counts[i]; count != 0)
          use(static_cast<std::uint32_t>(number * page_slots + i), std::int64_t{count});
  }

 private:
  static constexpr std::size_t page_slots = 32;
  struct page {
    std::array<std::int32_t, page_slots> counts{};
    std::int32_t used = 0;
  };
  std::vector<std::unique_ptr<page>> pages_;
  std::size_t slots_ = 0;  // counters that are not zero
};

}  // namespace troupe::actors::scheduler
