// Updates of one ConfigMap, each with a number, and HTTP watches that tell the numbers.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "benchmark/node.hpp"

namespace troupe::bench {

// Sends the map with the number, at first as a create.
void send_mark(test::http_client& to, std::int64_t mark, bool first);

class marked_watch {
 public:
  explicit marked_watch(const node& n);

  int descriptor() { return client_.connection().descriptor(); }
  // Reads the available events, and passes the number of each.
  void take(const std::function<void(std::int64_t mark)>& seen);

 private:
  test::http_client client_;
  std::string text_;
};

// The number in the stored form of the map, or -1.
std::int64_t mark_in_stored(std::string_view value);

}  // namespace troupe::bench
