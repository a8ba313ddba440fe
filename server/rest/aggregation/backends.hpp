// The connections to servers of aggregated APIs: to pods through their nodes, as for every port of
// a pod (docs/decisions/0036-proxies.md), to others over the network. Thread safe; must not outlive
// the actor system.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <tl/expected.hpp>

#include "persistence/store/store.hpp"
#include "server/credentials/front_proxy.hpp"
#include "server/rest/aggregation/aggregated_apis.hpp"
#include "server/rest/proxy/dialer.hpp"

namespace troupe::actors {
class node_links;
class stream_source;
}  // namespace troupe::actors

namespace troupe::runtime {
class actor_system;
}

namespace troupe::server {

class backends {
 public:
  struct sources {
    runtime::actor_system& system;
    const persistence::store& store;
    std::shared_ptr<const actors::node_links> links;
    std::shared_ptr<actors::stream_source> here;  // null: no access to pods on this machine
    std::shared_ptr<const server::front_proxy> front_proxy;  // null: no client certificate
  };
  explicit backends(sources from) : from_{std::move(from)} {}

  // A ready endpoint of the service, a different one for each `turn`; the error is the
  // reason.
  tl::expected<proxy_target, std::string> target(const aggregated_api& api,
                                                 std::uint64_t turn) const;
  front_proxy_credentials credentials() const;
  persistence::snapshot read() const { return from_.store.read(); }

 private:
  const sources from_;
  const std::shared_ptr<dialer> dialer_ = std::make_shared<dialer>();
};

// The aggregation state shared by the handlers of a server.
struct aggregation {
  explicit aggregation(backends::sources from) : servers{std::move(from)} {}

  // The number of a request or a state. It outlives the actors that use it: an answer to the former
  // life of one is told from those to its next.
  std::uint64_t next_number() { return ++last_number_; }

  aggregated_apis apis;
  const backends servers;

 private:
  std::atomic<std::uint64_t> last_number_{0};
};

}  // namespace troupe::server
