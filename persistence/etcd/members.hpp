// Lists and changes the members of an etcd cluster, and reads their status. For commands, not for a
// node: each call blocks until the answer or `etcd_options::read_limit`.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "persistence/etcd/etcd.hpp"

namespace troupe::persistence {

struct etcd_member {
  std::uint64_t id = 0;
  std::string name;  // empty: added but not started yet
  std::vector<std::string> peer_urls, client_urls;
  bool is_learner = false;
};

struct etcd_member_status {
  std::string version;
  std::uint64_t member = 0;  // the id of this member
  std::uint64_t leader = 0;  // 0: no leader known
  std::uint64_t raft_index = 0;
  std::int64_t size_bytes = 0;  // of the database file
  bool is_learner = false;
  std::vector<std::string> errors;  // alarms, such as NOSPACE
};

// Uses one endpoint; if it cannot be reached or is a learner, the next. Not thread
// safe.
class etcd_members {
 public:
  virtual ~etcd_members() = default;
  virtual expected<std::vector<etcd_member>> list() = 0;
  // The status of the member at this client URL.
  virtual expected<etcd_member_status> status(const std::string& endpoint) = 0;
  // Adds a learner, which has no vote, and returns its id.
  virtual expected<std::uint64_t> add_learner(const std::string& peer_url) = 0;
  // Makes a learner a voting member. Fails until the learner has caught up with the leader.
  virtual expected<void> promote(std::uint64_t id) = 0;
  virtual expected<void> remove(std::uint64_t id) = 0;
};

expected<std::unique_ptr<etcd_members>> open_etcd_members(const etcd_options& options);

}  // namespace troupe::persistence
