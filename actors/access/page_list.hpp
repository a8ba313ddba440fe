// A list with structural sharing: a change copies one page, other pages are shared by all copies.
// Lookup by index takes two memory accesses.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace troupe::actors::access {

template <class T>
class page_list {
 public:
  std::size_t size() const noexcept { return size_; }
  const T& operator[](std::size_t i) const { return (*pages_[i / page_size])[i % page_size]; }

  template <class F>
  void update(std::size_t i, F change) {
    auto copy = std::make_shared<page>(*pages_[i / page_size]);
    change((*copy)[i % page_size]);
    pages_[i / page_size] = std::move(copy);
  }

  // Appends an element and returns its index.
  std::size_t grow() {
    if (size_ % page_size == 0) pages_.push_back(std::make_shared<const page>());
    return size_++;
  }

 private:
  static constexpr std::size_t page_size = 64;
  using page = std::array<T, page_size>;

  std::vector<std::shared_ptr<const page>> pages_;
  std::size_t size_ = 0;
};

}  // namespace troupe::actors::access
