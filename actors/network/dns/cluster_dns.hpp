// The actor that builds the table of this node's DNS server from the cluster's Services and
// EndpointSlices. One per node.
//
// After a crash the table is rebuilt from the store; meanwhile the server answers from the old
// one.
#pragma once

#include <functional>
#include <set>
#include <string>

#include "actors/network/dns/dns_table.hpp"
#include "actors/network/watch/service_informer.hpp"

namespace troupe::actors::dns {

struct cluster_dns_options {
  std::string domain;   // as text
  std::string address;  // address of the server
  // Receives each new table on the actor's thread; must not block.
  std::function<void(table_ptr)> publish;
};

class cluster_dns : public service_informer {
 public:
  cluster_dns(runtime::actor_ref watcher, cluster_dns_options options);

  const runtime::behavior& make_behavior() const override;
  void started() override;
  std::string describe() const override;

 private:
  void apply(const std::set<std::string>& changed) override;

  const cluster_dns_options options_;
  const std::string domain_;
  table_maker maker_;
  std::uint64_t tables_ = 0;
};

}  // namespace troupe::actors::dns
