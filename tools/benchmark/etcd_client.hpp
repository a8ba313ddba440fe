// A bare client of etcd: it watches all keys and sends the requests of a control plane, without any
// other work. What it measures is what etcd and gRPC take.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "benchmark/support.hpp"
#include "persistence/replica/shared_log.hpp"

namespace troupe::bench {

class etcd_client final : persistence::log_reader {
 public:
  // From a watch of all keys; on the client's thread. A change may come twice.
  using change_handler = std::function<void(const persistence::log_change&)>;

  // Throws std::runtime_error if etcd cannot be used.
  explicit etcd_client(const std::string& endpoint, change_handler seen = {});
  ~etcd_client() override;
  etcd_client(const etcd_client&) = delete;
  etcd_client& operator=(const etcd_client&) = delete;

  struct figures {
    double per_second = 0;
    double p50_us = 0;
  };
  // Keeps `outstanding` creates in flight, for `time`.
  figures create(std::size_t outstanding, std::chrono::milliseconds time);
  // Linearizable reads, one after the other.
  figures read(std::chrono::milliseconds time);

 private:
  void on_steps(std::vector<persistence::log_step> steps) override;
  void on_end(persistence::error) override {}

  void begin(std::chrono::milliseconds time);
  figures end();
  void write(persistence::log_transaction request,
             std::function<void(const persistence::log_answer&)> done);
  void create_next();
  void read_next();
  void note(clock::time_point sent);  // on the client's thread
  void enter();
  void leave();
  void wait();

  const change_handler seen_;
  const std::string session_;
  persistence::revision session_at_ = 0;
  std::mutex mutex_;
  std::condition_variable idle_;
  std::size_t under_way_ = 0;
  std::atomic<std::uint64_t> number_{0};
  clock::time_point began_;
  std::chrono::milliseconds time_{0};
  std::vector<double> micros_;
  std::unique_ptr<persistence::shared_log> log_;
};

}  // namespace troupe::bench
