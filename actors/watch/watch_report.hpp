// The watcher's report about its subscribers, for the console and the metrics.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "persistence/store/store.hpp"

namespace troupe::actors {

// A request to the watcher, answered by `watch_report`.
struct report_watches {
  std::size_t limit = 1'000;     // rows; the furthest behind come first
  std::uint64_t subscriber = 0;  // only rows of this actor; 0: all
};

struct watch_report {
  struct row {
    std::uint64_t subscriber = 0;  // the actor's id
    std::string prefix;
    std::string on_node;
    bool live = false;                   // receives each batch as it is committed
    persistence::revision position = 0;  // everything up to this revision was sent
    std::uint64_t behind = 0;            // revisions; 0 while it is live
    std::int64_t credit = 0;
  };
  persistence::revision newest = 0;
  std::size_t streams = 0;
  std::size_t streams_behind = 0;
  std::vector<row> rows;
};

}  // namespace troupe::actors
