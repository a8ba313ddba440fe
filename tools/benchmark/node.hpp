// A running `troupe node` with simulated minions; its data is on the disk that is measured.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "benchmark/http_load/http_load.hpp"
#include "benchmark/support.hpp"
#include "support/http_client.hpp"

namespace troupe::bench {

class node {
 public:
  // Returns when the API is served.
  node(const std::string& program, const std::string& folder, int simulated_nodes,
       const std::vector<std::string>& more_flags = {});
  ~node();
  node(const node&) = delete;
  node& operator=(const node&) = delete;

  clock::time_point started() const noexcept { return started_; }
  double ready_ms() const noexcept { return ready_ms_; }
  // With SIGKILL; returns when it has ended. Then it can only be destroyed.
  void kill();
  double memory_mb() const;    // resident
  double processor_s() const;  // of all its threads since its start
  // Waits until all simulated nodes have registered.
  void wait_for_nodes() const;

  test::wire_options address() const;
  test::http_client client() const { return test::http_client{address()}; }
  // Three seconds of load with the administrator's certificate.
  load_options load() const;

 private:
  void end(int signal);

  std::string data_;
  int simulated_nodes_;
  pid_t pid_ = 0;
  std::uint16_t port_ = 0;
  clock::time_point started_;
  double ready_ms_ = 0;
};

// Ends the run if the load failed or if more than one request in a hundred was refused.
load_result must_run(const load_options& options);

}  // namespace troupe::bench
