// A machine whose pods have a routed device each, as the CNI plugin ptp makes them, and another
// machine beside it: each a network namespace. This machine's own network is not touched.
#pragma once

#include <list>
#include <string>

#include "system/network/network_space.hpp"

namespace troupe::test {

// False, with the reason, if nft is not installed or namespaces are not possible.
bool can_try_rules();

// Runs a shell command in it, which must succeed.
void sh(const network_space& in, const std::string& command);

class pod_machine {
 public:
  network_space machine;  // 192.0.2.1
  network_space other;    // 192.0.2.2, which reaches pods through it

  pod_machine();

  network_space& add_pod(const std::string& address);
  // Runs nft with the script on the machine; it must succeed.
  void run(const std::string& script) const;

 private:
  std::list<network_space> pods_;
};

}  // namespace troupe::test
