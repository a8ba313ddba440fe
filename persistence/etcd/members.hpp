// The members of an etcd: which there are, how each of them is, and changes of them. For commands,
// not for a node: every call blocks until its answer or `etcd_options::read_limit`.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "persistence/etcd/etcd.hpp"

namespace troupe::persistence {

struct etcd_member {
  std::uint64_t id = 0;
  std::string name;  // empty: it was added and has not started yet
  std::vector<std::string> peer_urls, client_urls;
  bool is_learner = false;
};

struct etcd_member_status {
  std::string version;
  std::uint64_t member = 0;  // its own id
  std::uint64_t leader = 0;  // 0: it knows none
  std::uint64_t raft_index = 0;
  std::int64_t size_bytes = 0;  // of its database file
  bool is_learner = false;
  std::vector<std::string> errors;  // alarms, such as NOSPACE
};

// Uses one of the endpoints, and the next when one cannot be reached or is a learner. Not thread
// safe.
class etcd_members {
 public:
  virtual ~etcd_members() = default;
  virtual expected<std::vector<etcd_member>> list() = 0;
  // Of the member at that client URL alone.
  virtual expected<etcd_member_status> status(const std::string& endpoint) = 0;
  // As a learner, which does not count for the majority; its id.
  virtual expected<std::uint64_t> add_learner(const std::string& peer_url) = 0;
  // Makes a member with a vote of a learner. Fails while that has not caught up with the leader.
  virtual expected<void> promote(std::uint64_t id) = 0;
  virtual expected<void> remove(std::uint64_t id) = 0;
};

expected<std::unique_ptr<etcd_members>> open_etcd_members(const etcd_options& options);

}  // namespace troupe::persistence
