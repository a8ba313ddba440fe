// A client on the control plane's machine that writes and reads continuously: records every
// acknowledged write and every forbidden state.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "support/http_client.hpp"
#include "system/network/machine.hpp"

namespace troupe::test {

class witness {
 public:
  // Its machine must outlive it. `replicas`: more ready pods of web are never allowed.
  witness(const machine& control, int replicas);
  ~witness();
  witness(const witness&) = delete;
  witness& operator=(const witness&) = delete;

  struct report {
    std::size_t acknowledged = 0;
    std::size_t lost = 0;  // of them
    std::size_t looks = 0;
    // The longest time between two acknowledged writes.
    std::chrono::milliseconds longest_lapse{0};
    std::vector<std::string> violations;
  };
  // Waits until it has written and read ten more times; false if it cannot.
  bool sees_more() const;
  // Ends it, and checks that all acknowledged writes exist.
  report finish();

 private:
  using clock = std::chrono::steady_clock;

  void watch();
  void write_one();
  void look();

  const machine& control_;
  const std::size_t replicas_;
  std::unique_ptr<http_client> client_;
  std::vector<std::string> acknowledged_;
  std::map<std::string, std::string> node_of_;  // by uid of the pod
  report seen_;
  clock::time_point last_ = clock::now();
  int next_ = 0;

  std::mutex mutex_;
  std::condition_variable turn_;
  bool stopping_ = false;
  std::atomic<std::size_t> rounds_{0};  // successful ones
  std::thread thread_;
};

}  // namespace troupe::test
