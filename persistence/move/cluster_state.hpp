// Copies a cluster's state at one revision from a source to a target (README.md).
//
// All functions here block: call them on a thread of their own.
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
  std::string cluster;  // id of the cluster
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
  // The next items in order of key, at most a few MB; empty at the end.
  virtual expected<std::vector<stored_item>> next() = 0;
};

class state_target {
 public:
  virtual ~state_target() = default;
  virtual expected<void> begin(const cluster_head& head) = 0;
  virtual expected<void> add(std::vector<stored_item> items) = 0;
  // Makes the state valid. Without this call nobody accepts it as a complete state.
  virtual expected<void> finish() = 0;
};

// A backup that is restored. Clients have seen revisions after it, which must not be given again:
// the state has a revision above them (defaults::restore_gap). `from` must outlive this object.
class restored_source final : public state_source {
 public:
  explicit restored_source(state_source& from);

  const cluster_head& head() const override { return head_; }
  expected<std::vector<stored_item>> next() override { return from_.next(); }

 private:
  state_source& from_;
  const cluster_head head_;
};

struct copy_report {
  cluster_head head;
  std::uint64_t objects = 0;
  std::uint64_t bytes = 0;
};

// Calls `progress` after each part.
expected<copy_report> copy_state(state_source& from, state_target& to,
                                 const std::function<void(const copy_report&)>& progress);

}  // namespace troupe::persistence
