// The pods of one controller, counted incrementally: a controller of ten thousand pods handles one
// more without visiting the others.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "actors/controllers/replication/pod_record.hpp"
#include "actors/controllers/replication/replica_owner.hpp"
#include "actors/controllers/replication/replica_status.hpp"

namespace troupe::actors::replication {

class replica_tally {
 public:
  // Sets the owner, whose template determines which pods are "fully labelled"; a change recounts
  // all pods.
  void owner(const replica_owner& owner);

  // Adds the pod or replaces its record.
  void put(const std::string& key, pod_record record);
  void remove(const std::string& key);
  void clear();

  const pod_record* find(const std::string& key) const;
  std::size_t size() const noexcept { return pods_.size(); }

  // Constant time without minReadySeconds, otherwise one walk. `now` in seconds.
  replica_counts counts(std::int64_t now) const;
  // Seconds until the next ready pod becomes available; nothing if no pod is waiting for it.
  std::optional<std::int64_t> next_available_in(std::int64_t now) const;

  // Visits all pods: for ranking and for counting neighbours.
  std::vector<const pod_record*> active() const;

 private:
  struct entry {
    pod_record record;
    bool fully_labeled = false;
  };
  void count(const entry& e, std::int32_t by);
  bool fully_labeled(const pod_record& record) const;

  std::unordered_map<std::string, entry> pods_;
  std::vector<std::pair<std::string, std::string>> template_labels_;
  std::int32_t min_ready_seconds_ = 0;
  replica_counts counts_;
};

}  // namespace troupe::actors::replication
