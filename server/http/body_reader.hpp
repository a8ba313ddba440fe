// Reads a body part by part, for bodies that are made from another one while they are sent.
#pragma once

#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include "server/http/body.hpp"

namespace troupe::server {

class body_reader {
 public:
  explicit body_reader(body source) : rest_{source.release_rest()}, pieces_{source.release()} {}

  // Calls `use` with the next parts, at most `limit` bytes in all: none if the source has none yet.
  // Returns false after the last one.
  template <class Use>
  bool read(std::size_t limit, const Use& use) {
    while (limit > 0 && has_piece()) {
      auto& current = pieces_[next_];
      const auto part = current.text.substr(offset_, limit);
      use(part);
      limit -= part.size();
      offset_ += part.size();
      if (offset_ < current.text.size()) continue;
      current.owner = {};
      offset_ = 0;
      ++next_;
    }
    return next_ < pieces_.size() || rest_;
  }

 private:
  // Requests more pieces when all are read; there may be none yet.
  bool has_piece() {
    if (next_ < pieces_.size()) return true;
    if (!rest_) return false;
    body more;
    if (!rest_(more)) rest_ = nullptr;
    pieces_ = more.release();
    next_ = offset_ = 0;
    return !pieces_.empty();
  }

  body::more rest_;
  std::vector<piece> pieces_;
  std::size_t next_ = 0, offset_ = 0;
};

}  // namespace troupe::server
