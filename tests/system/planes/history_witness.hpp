// Records the history of an etcd: watches all keys from the first revision, by etcd's own client,
// and keeps all changes.
#pragma once

#include <atomic>
#include <filesystem>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "persistence/replica/shared_log.hpp"
#include "system/network/network_space.hpp"
#include "system/network/virtual_switch.hpp"

namespace troupe::test {

// Parser for the output of `etcdctl watch --write-out fields`, line by line. It keeps the values of
// keys below /troupe/, and the facts of pods and services (stored_facts.hpp); of other values it
// keeps the part from "<" to ">", if any.
class watch_reader {
 public:
  void read(std::string_view line);
  // Returns the steps read since the last call; the last step may be incomplete.
  std::vector<persistence::log_step> take();

 private:
  std::vector<persistence::log_step> steps_;
  bool removed_ = false;
  persistence::log_change next_;
  persistence::revision at_ = 0;
};

class history_witness {
 public:
  // Runs on its own machine, which gets no faults; begins with revision `first`.
  history_witness(virtual_switch& network, virtual_switch::port number,
                  const std::string& endpoints, const std::filesystem::path& folder,
                  persistence::revision first = 1);
  ~history_witness();

  persistence::revision at() const { return at_; }
  // The name of the leading control plane; empty: none.
  std::string leader() const;
  // False after it has given up: a part of the history was compacted before it was read.
  bool sees() const { return !ended_; }
  // The changes recorded so far.
  std::vector<persistence::log_step> history() const;

 private:
  bool follow();
  void keep(std::vector<persistence::log_step> steps);

  const std::string endpoints_;
  const std::filesystem::path pipe_, log_;
  const persistence::revision first_;
  network_space space_;
  mutable std::mutex mutex_;
  std::vector<persistence::log_step> history_;
  std::string leader_;
  int runs_ = 0;
  std::atomic<persistence::revision> at_{0};
  std::atomic<bool> stopping_{false}, ended_{false};
  std::thread thread_;
};

}  // namespace troupe::test
