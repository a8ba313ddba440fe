// A small file with one number: the newest revision that was acknowledged.
//
// Written after each sync and never synced itself, so after a power failure it may be older than
// the store but never newer. A write-ahead log that ends before this revision has lost acknowledged
// writes to damage; one that is torn after it has lost none. If the file cannot be written, only
// this check is lost.
#pragma once

#include <string>

#include "persistence/error.hpp"

namespace troupe::persistence {

class acknowledged_mark {
 public:
  // Opens or creates the file; a malformed file reads as 0.
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
