// Whoever watches all keys of an etcd from its first revision on, by etcd's own client, and keeps
// what happened.
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

// What `etcdctl watch --write-out fields` prints, line by line. Of values it keeps those below
// /troupe/, of others the part from "<" to ">" where there is one.
class watch_reader {
 public:
  void read(std::string_view line);
  // What has been read since the last time; the newest one may not be whole yet.
  std::vector<persistence::log_step> take();

 private:
  std::vector<persistence::log_step> steps_;
  bool removed_ = false;
  persistence::log_change next_;
  persistence::revision at_ = 0;
};

class history_witness {
 public:
  // On a machine of its own, which nothing happens to.
  history_witness(virtual_switch& network, virtual_switch::port number,
                  const std::string& endpoints, const std::filesystem::path& folder);
  ~history_witness();

  persistence::revision at() const { return at_; }
  // The name of the control plane that leads; empty: none.
  std::string leader() const;
  // False when it has ended, since a part of the history was compacted before it came.
  bool sees() const { return !ended_; }
  // What it has seen until now.
  std::vector<persistence::log_step> history() const;

 private:
  bool follow();
  void keep(std::vector<persistence::log_step> steps);

  const std::string endpoints_;
  const std::filesystem::path pipe_, log_;
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
