// Kubernetes 1.20 over an etcd of its own: kube-apiserver, kube-controller-manager and
// kube-scheduler, which the environment names.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "benchmark/http_load/http_load.hpp"
#include "etcd/etcd_server.hpp"
#include "support/http_client.hpp"
#include "support/programs/process.hpp"

namespace troupe::bench {

class kube_cluster {
 public:
  // Why it cannot run; empty if it can.
  static std::string missing();

  // Returns when the API is served. Files are in `folder`, which it creates.
  explicit kube_cluster(const std::string& folder);

  test::wire_options address() const;
  // The administrator's.
  std::string bearer_token() const;
  double server_memory_mb() const;  // of kube-apiserver, resident
  double memory_mb() const;         // of the three programs

 private:
  void start_component(const char* variable, const std::string& name,
                       const std::vector<std::string>& flags);

  const std::string folder_;
  const test::etcd_server etcd_;
  const int port_ = test::free_port();
  std::unique_ptr<test::process> server_;
  std::vector<std::unique_ptr<test::process>> components_;  // destroyed before the server
};

}  // namespace troupe::bench
