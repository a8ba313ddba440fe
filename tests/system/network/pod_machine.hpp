// A machine whose pods have a routed device each, as the CNI plugin ptp makes them, and another
// machine beside it: each a network namespace. This machine's own network is not touched.
#pragma once

#include <list>
#include <string>

#include "system/network/network_space.hpp"

namespace troupe::test {

// False, with the reason, if nft is not installed or namespaces are not possible.
bool can_try_rules();

// The same for IPv6.
bool can_try_ipv6();

// A command of the shell in it, which has to succeed.
void sh(const network_space& in, const std::string& command);

class pod_machine {
 public:
  network_space machine;  // 192.0.2.1, and 2001:db8::1 where the kernel has IPv6
  network_space other;    // 192.0.2.2, 2001:db8::2, which reaches pods by it

  pod_machine();

  // `address_v6`: besides; empty: it has none.
  network_space& add_pod(const std::string& address, const std::string& address_v6 = {});
  // nft with the script, on the machine; it has to succeed.
  void run(const std::string& script) const;
  // What nft prints for one command there.
  std::string listed(const std::string& command) const;

 private:
  std::list<network_space> pods_;
};

}  // namespace troupe::test
