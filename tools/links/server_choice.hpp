// Which control plane a machine calls over which of its links. It has one link that its kubelet
// works over, the first, to any control plane; and one to each of the others, by which those ask it
// for logs, streams and what it uses. A control plane takes the newest link of a node for the
// only one, so the two must not meet at the same. Thread safe.
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

  // `joined`: by which the machine joined, which stays good where a name or a virtual address
  // stands for all of them. Nothing: there is no first link.
  explicit server_choice(std::optional<runtime::link::address> joined);

  void learn(actors::api_server_records records);
  actors::api_server_records records() const;

  // Before each attempt of the first link: until `linked` the others begin nothing.
  addresses for_first();
  // It stands, to the server with that key.
  void linked(const std::string& key_hash);
  // Of the control plane of that name; none where the first link is there, or may be in a moment.
  addresses for_other(const std::string& name) const;

 private:
  const std::optional<runtime::link::address> joined_;
  mutable std::mutex mutex_;
  actors::api_server_records records_;
  std::string first_;  // the key of the server that it stands to; empty: it is dialling
};

}  // namespace troupe::tools
