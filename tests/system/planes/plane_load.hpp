// Clients that write, read and watch through several control planes all the while, and note what
// they are told.
#pragma once

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
#include "system/planes/history_judge.hpp"
#include "system/planes/plane_cluster.hpp"

namespace troupe::test {

// What clients do between them.
struct load_options {
  std::uint64_t seed = 1;
  std::size_t writers = 4, watchers = 3;
  std::chrono::milliseconds pause{20};  // between two requests of a writer
};

class plane_load {
 public:
  // Pods of the ReplicaSet "web", whose pods are deleted all the while.
  static constexpr std::size_t replicas = 3;

  // The cluster outlives it.
  plane_load(plane_cluster& cluster, load_options options);
  ~plane_load();

  // Whether so many more writes are done within the limit.
  bool goes_on(std::size_t writes, std::chrono::milliseconds limit) const;
  std::size_t acknowledged() const { return acknowledged_; }

  // Ends the clients.
  void finish();
  // After finish(): what was told. `problems`: what is wrong by itself.
  std::vector<write_record> writes() const { return writes_; }
  std::vector<watch_span> watches() const { return spans_; }
  std::vector<std::string> problems() const { return problems_; }
  std::string summary() const;

 private:
  using clock = std::chrono::steady_clock;
  class writer;
  class watcher;

  bool pause(std::chrono::milliseconds time);
  void note(write_record record);
  void problem(std::string text);

  plane_cluster& cluster_;
  const load_options options_;
  std::mutex mutex_;
  std::condition_variable turn_;
  bool stopping_ = false;
  std::vector<write_record> writes_;
  std::vector<watch_span> spans_;
  std::vector<std::string> problems_;
  std::atomic<std::size_t> acknowledged_{0}, reads_{0}, resumed_{0}, expired_{0};
  // The newest revision that anybody has been told.
  std::atomic<revision> told_{0};
  std::vector<std::thread> threads_;
};

}  // namespace troupe::test
