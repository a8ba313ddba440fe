// Chooses which control plane a machine calls over which link. It has one link that its kubelet
// works over, the first, to any control plane; and one to each other control plane, which uses it
// to request logs, streams and usage. A control plane keeps only the newest link of a node, so two
// links must not go to the same one. Thread safe.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "actors/api_servers/api_server_record.hpp"
#include "runtime/link/link.hpp"

namespace troupe::tools {

class server_choice {
 public:
  using addresses = std::vector<runtime::link::address>;

  // `joined`: the address by which the machine joined, which stays valid if a name or a virtual
  // address stands for all control planes. Nullopt: there is no first link.
  explicit server_choice(std::optional<runtime::link::address> joined);

  void learn(actors::api_server_records records);
  actors::api_server_records records() const;

  // Call before each attempt of the first link: no other link starts until `linked`.
  addresses first_addresses();
  // The first link is established, to the server with that key.
  void linked(const std::string& key_hash);
  // Addresses of that control plane; empty if the first link goes there, or may soon.
  addresses addresses_of(const std::string& name) const;

 private:
  const std::optional<runtime::link::address> joined_;
  mutable std::mutex mutex_;
  actors::api_server_records records_;
  std::string first_;  // key of the server that the first link uses; empty: connecting
};

}  // namespace troupe::tools
