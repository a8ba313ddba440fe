// A cluster's state at one revision, on its way from one place to another (README.md).
//
// Everything here blocks, and is for a thread of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "persistence/error.hpp"

namespace troupe::persistence {

struct cluster_head {
  std::string cluster;  // its id
  revision at = 0;
};

struct stored_item {
  std::string key, value;
  revision created = 0, modified = 0;
};

class state_source {
 public:
  virtual ~state_source() = default;
  virtual const cluster_head& head() const = 0;
  // The next ones in order of key, some MB at most; none at the end.
  virtual expected<std::vector<stored_item>> next() = 0;
};

class state_target {
 public:
  virtual ~state_target() = default;
  virtual expected<void> begin(const cluster_head& head) = 0;
  virtual expected<void> add(std::vector<stored_item> items) = 0;
  // From now on the state is there. Where this was not called, nobody takes it for a whole one.
  virtual expected<void> finish() = 0;
};

struct copy_report {
  cluster_head head;
  std::uint64_t objects = 0;
  std::uint64_t bytes = 0;
};

// `progress` after each part.
expected<copy_report> copy_state(state_source& from, state_target& to,
                                 const std::function<void(const copy_report&)>& progress);

}  // namespace troupe::persistence
