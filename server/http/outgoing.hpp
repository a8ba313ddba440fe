// The queue of pieces of a response that are not sent yet. Belongs to a connection.
#pragma once

#include <iterator>
#include <string_view>
#include <vector>

#include "server/http/body.hpp"

namespace troupe::server {

class outgoing {
 public:
  void add(std::vector<piece> pieces) {
    for (const auto& part : pieces)
      size_bytes_ += part.text.size();
    if (at_ == pieces_.size()) {
      pieces_ = std::move(pieces);
      at_ = 0;
      return;
    }
    pieces_.erase(pieces_.begin(), pieces_.begin() + static_cast<std::ptrdiff_t>(at_));
    at_ = 0;
    pieces_.insert(pieces_.end(), std::make_move_iterator(pieces.begin()),
                   std::make_move_iterator(pieces.end()));
  }

  std::size_t size_bytes() const noexcept { return size_bytes_; }
  bool empty() const noexcept { return size_bytes_ == 0; }

  // The next contiguous bytes. Must not be empty().
  std::string_view front() const noexcept { return pieces_[at_].text; }

  // `count` is at most front().size().
  void consume(std::size_t count) {
    size_bytes_ -= count;
    auto& first = pieces_[at_];
    first.text.remove_prefix(count);
    if (!first.text.empty()) return;
    first.owner.reset();
    if (++at_ == pieces_.size()) clear();
  }

  void clear() {
    pieces_.clear();
    at_ = 0;
    size_bytes_ = 0;
  }

 private:
  std::vector<piece> pieces_;
  std::size_t at_ = 0;
  std::size_t size_bytes_ = 0;
};

}  // namespace troupe::server
