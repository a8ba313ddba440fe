// A number in a small file: the newest revision that was promised to somebody.
//
// It is written after each sync and never synced itself, so after a power failure it may be older
// than the truth but never newer. A write-ahead log that ends before it has lost promised writes to
// damage; one that is torn after it has lost nothing that anybody was told of. Failing to write it
// costs only that knowledge.
#pragma once

#include <string>

#include "persistence/error.hpp"

namespace troupe::persistence {

class acknowledged_mark {
 public:
  // Opens or creates the file; a file that makes no sense reads as 0.
  explicit acknowledged_mark(const std::string& path);
  ~acknowledged_mark();
  acknowledged_mark(const acknowledged_mark&) = delete;
  acknowledged_mark& operator=(const acknowledged_mark&) = delete;

  revision value() const noexcept { return value_; }
  void value(revision at) noexcept;

 private:
  int file_ = -1;
  revision value_ = 0;
};

}  // namespace troupe::persistence
