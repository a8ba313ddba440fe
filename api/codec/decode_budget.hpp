// The memory bound of one document: a small text may describe millions of objects.
#pragma once

#include <cstddef>

namespace troupe::api {

// Counts, roughly, the memory of the messages that a document describes.
class decode_budget {
 public:
  explicit decode_budget(std::size_t limit_bytes) : left_(limit_bytes) {}

  // Returns false if `size_bytes` exceeds the rest of the budget.
  bool take(std::size_t size_bytes) noexcept {
    if (size_bytes > left_) return false;
    left_ -= size_bytes;
    return true;
  }
  bool take_string(std::size_t size_bytes) noexcept { return take(size_bytes + string_bytes); }

 private:
  static constexpr std::size_t string_bytes = 40;  // std::string, its pointer, the allocation

  std::size_t left_;
};

}  // namespace troupe::api
