// A control plane on machine 1 and machines that joined it, on one network; and a controller whose
// pods, real processes, run on all of them. Shared by the tests of faults.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "api/schema/core_node.pb.h"
#include "api/schema/core_pod.pb.h"
#include "support/http_client.hpp"
#include "support/scratch_folder.hpp"
#include "system/network/machine.hpp"
#include "system/network/virtual_switch.hpp"

namespace troupe::test {

// Whether `holds` became true before the limit; polls about twenty times a second.
bool soon(std::chrono::milliseconds limit, const std::function<bool()>& holds);

// Flags of the control plane and the nodes, without names and addresses.
struct cluster_flags {
  std::vector<std::string> control;
  std::vector<std::string> joined;
  // Additional flags of one machine, which it may prepare first.
  std::function<std::vector<std::string>(machine& one)> own = {};
};
// A node becomes unreachable after 4 s of silence, so that a test need not wait for 40.
cluster_flags quick();
// After 40 s: a node that is down for a while, or a slow one, keeps its pods.
cluster_flags patient();

class joined_cluster {
 public:
  // Machines 1 to `joined` + 1. Each but the first has run the command that `troupe token create`
  // printed on the first. Throws std::runtime_error if one does not start.
  explicit joined_cluster(unsigned joined = 2, const cluster_flags& flags = quick());

  virtual_switch& network() noexcept { return network_; }
  const std::filesystem::path& folder() const noexcept { return folder_.path(); }
  machine& control() noexcept { return *machines_.front(); }
  machine& at(virtual_switch::port number) { return *machines_.at(number - 1); }
  // Adds one machine, without a node.
  machine& add();
  // The words after "troupe" in the output of `troupe token create`.
  std::vector<std::string> token_line(const std::string& flags = {});
  void join(machine& one);

  // The newest kubectl on the control plane's machine, as admin.
  process_result kubectl(const std::string& words);
  // The result of `kubectl apply -f -` with that text.
  process_result apply(const std::string& yaml);

  // -- the controller "web"
  // -------------------------------------------------------------------------

  // Its pods tolerate an unreachable node for a second, and end within one.
  void run_web(int replicas);
  void scale_web(int replicas);
  std::vector<api::core::v1::Pod> pods();
  std::vector<api::core::v1::Node> nodes();
  bool is_ready(const machine& one);
  // Process ids of web's containers that run on a machine.
  std::set<pid_t> containers(machine& on) const;

  // How the state differs from the final one: all nodes ready, web's pods as many as desired and
  // ready, and on each machine only the processes of its pods. Empty if it does not differ.
  std::string what_is_missing();
  // The time until nothing is missing; a failed check with the difference after the limit.
  std::chrono::milliseconds converge(std::chrono::milliseconds limit);

 private:
  template <class List>
  List list(const std::string& path);
  void add_own(machine& one, std::vector<std::string>& words) const;

  const scratch_folder folder_;
  const cluster_flags flags_;
  virtual_switch network_;
  std::vector<std::unique_ptr<machine>> machines_;
  int replicas_ = 0;
};

// Connection options of the admin.
wire_options admin_of(const machine& control);
// A client in the machine's network; throws std::runtime_error if it cannot
// connect.
std::unique_ptr<http_client> client_on(const machine& control,
                                       std::chrono::milliseconds timeout = std::chrono::minutes{1});

}  // namespace troupe::test
