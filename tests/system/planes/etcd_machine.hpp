// An etcd member on its own machine in a test's network.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>

#include "support/programs/process.hpp"
#include "support/programs/shell.hpp"
#include "system/network/network_space.hpp"
#include "system/network/virtual_switch.hpp"

namespace troupe::test {

class etcd_machine {
 public:
  // Member "eN" at 10.77.0.N; its data and log are below `folder`.
  etcd_machine(virtual_switch& network, virtual_switch::port number,
               const std::filesystem::path& folder);
  ~etcd_machine();

  virtual_switch::port number() const noexcept { return number_; }
  std::string name() const { return "e" + std::to_string(number_); }
  std::string client_url() const;
  std::string peer_url() const;
  // "e4=http://10.77.0.4:2380".
  std::string place() const { return name() + "=" + peer_url(); }

  // `members`: place() of all members including this one. `existing`: this member was added to a
  // running cluster.
  void start(const std::string& members, bool existing = false);
  void restart();
  void kill();
  // Deletes the member's data.
  void wipe();
  // Makes data of a new etcd from a backup; there must be none. False: etcdctl failed
  // (control.log). With the default token it has the old one's cluster id.
  bool restore(const std::filesystem::path& backup, const std::string& members,
               const std::string& token) const;
  void signal(int number) const { process_->signal(number); }
  pid_t id() const { return process_->id(); }
  bool runs() const { return process_ && !process_->wait(std::chrono::milliseconds{0}); }

  // Runs `etcdctl <words>` on this machine against `endpoints`; timeout 20 s.
  process_result control(const std::string& endpoints, const std::string& words) const;

 private:
  const virtual_switch::port number_;
  const std::filesystem::path folder_;
  network_space space_;
  std::string members_;
  bool existing_ = false;
  std::unique_ptr<process> process_;
};

}  // namespace troupe::test
