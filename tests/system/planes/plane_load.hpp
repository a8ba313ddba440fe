// Clients that continuously write, read and watch through several control planes, and record the
// responses.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "support/http_client.hpp"
#include "system/planes/history_checker.hpp"
#include "system/planes/plane_cluster.hpp"

namespace troupe::test {

// The number of clients and their pace.
struct load_options {
  std::uint64_t seed = 1;
  // `repeaters`: writers that only make what shows a late or repeated transaction, or an old state.
  std::size_t writers = 4, repeaters = 4, watchers = 3;
  std::chrono::milliseconds pause{20};  // between two requests of a writer
};

class plane_load {
 public:
  // Of the ReplicaSet "web", whose pods a client deletes again and again.
  static constexpr std::size_t replicas = 3;
  // Of the ReplicaSet "scaled", whose replicas a client changes: the maximum.
  static constexpr std::size_t scaled_replicas = 4;
  // A simulated node has 32 CPUs, and each pod requests 12.
  static constexpr std::size_t pods_of_node = 2;

  // The cluster must outlive this.
  plane_load(plane_cluster& cluster, load_options options);
  ~plane_load();

  // Waits until that many more writes have succeeded; false after `limit`.
  bool goes_on(std::size_t writes, std::chrono::milliseconds limit) const;
  std::size_t acknowledged() const { return acknowledged_; }

  // Stops the clients.
  void finish();
  // After finish(): the recorded responses. `problems`: responses that are wrong in any history.
  std::vector<write_record> writes() const { return writes_; }
  std::vector<read_record> reads() const { return shown_; }
  std::vector<list_record> lists() const { return lists_; }
  std::vector<watch_span> watches() const { return spans_; }
  std::vector<std::string> problems() const { return problems_; }
  std::string summary() const;

 private:
  using clock = std::chrono::steady_clock;
  class writer;
  class watcher;

  bool pause(std::chrono::milliseconds time);
  void note(write_record record);
  void note(read_record record);
  void note(const list_record& record);
  void problem(std::string text);

  plane_cluster& cluster_;
  const load_options options_;
  std::mutex mutex_;
  std::condition_variable turn_;
  bool stopping_ = false;
  std::vector<write_record> writes_;
  std::vector<read_record> shown_;
  std::vector<list_record> lists_;
  std::vector<watch_span> spans_;
  std::vector<std::string> problems_;
  std::atomic<std::size_t> acknowledged_{0}, reads_{0}, resumed_{0}, expired_{0};
  // The newest revision in any response.
  std::atomic<revision> told_{0};
  // The same for each of the config maps that all writers change.
  std::array<std::atomic<revision>, 5> shared_{};
  std::vector<std::thread> threads_;
};

}  // namespace troupe::test
