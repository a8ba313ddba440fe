// The pods of one controller, counted as they change: a controller of ten thousand pods learns of
// one more without walking the others.
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
  // What the controller's template says decides which pods are "fully labelled"; a changed owner
  // counts again.
  void owner(const replica_owner& owner);

  // Takes the pod in or replaces what was known of it.
  void put(const std::string& key, pod_record record);
  void remove(const std::string& key);
  void clear();

  const pod_record* find(const std::string& key) const;
  std::size_t size() const noexcept { return pods_.size(); }

  // Without minReadySeconds this costs nothing; with it, one walk. `now` in seconds.
  replica_counts counts(std::int64_t now) const;
  // How long until the next ready pod becomes available, in seconds; nothing when none is waiting.
  std::optional<std::int64_t> next_available_in(std::int64_t now) const;

  // Walks all: for ranking and for adding up neighbours.
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
