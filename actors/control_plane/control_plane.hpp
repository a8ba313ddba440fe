// One control plane over a store and an actor system. It always serves: watcher, writer, recorder
// and the links of joined nodes, by which the API server works. It leads from time to time:
// controllers, scheduler and all else that only one control plane of a cluster may do at a time
// (leading.hpp).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "actors/certificates/certificate_issuer.hpp"
#include "actors/core/cluster_authority.hpp"
#include "actors/core/core_actors.hpp"
#include "actors/core/messages.hpp"
#include "actors/defaults.hpp"
#include "actors/events/event_rules.hpp"
#include "actors/nodes/pod_ranges.hpp"
#include "actors/scheduler/profile.hpp"
#include "actors/simulation/policy.hpp"
#include "actors/tokens/token_issuer.hpp"
#include "actors/write/write_service.hpp"
#include "persistence/store/store.hpp"
#include "runtime/actor_system.hpp"

namespace troupe::actors {

struct control_plane_options {
  // Checked by scheduler::profile::make.
  std::vector<scheduler::profile_options> scheduler_profiles{*scheduler::built_in_profile("today")};
  // False: another program puts pods on nodes.
  bool scheduler = true;
  // False: it serves, and does not lead before start_leading().
  bool controllers = true;
  // Which of them run while it leads (controller_selection.hpp).
  std::vector<std::string> enabled_controllers = {"*"};
  // False: the watcher reads the change log itself, writes are tried again where they are. For
  // simulations, which have one thread.
  bool reading_thread = true;
  // Chance that a transaction of an actor is answered with a conflict, untried; for simulations.
  double conflict_chance = 0;
  // A node without heartbeats for so long is not ready.
  runtime::duration node_grace = defaults::node_grace;
  capacity_options capacity = {};
  // Steps of admission that ask somebody outside, in their order.
  admission::outside_list outside = {};
  // Events beyond are dropped, the oldest first.
  event_limits events = {};
  // Signs the tokens of service accounts; null: there are none.
  std::shared_ptr<const token_issuer> issuer = {};
  // Signs the certificates that are asked for; null: nobody does.
  std::shared_ptr<const certificate_issuer> certificates = {};
  // By which pods know the API server; null: pods are given no access to it.
  std::shared_ptr<const cluster_authority> authority = {};
  // There is a class of volumes that are directories of nodes, and it is the default.
  bool local_path_class = false;
  // Each service account has a Secret with a token that does not expire.
  bool legacy_token_secrets = false;
  // What simulated pods and nodes do; null: what their annotations say.
  simulated::policy_ptr simulation_policy = {};
  // From which nodes get ranges of addresses for their pods, one for each family; empty: from none.
  std::vector<pod_ranges> ranges_of_pods = {};
  // Of the IPv6 addresses of Services (service_addresses::in); empty: they have none.
  std::string services_v6 = {};
};

class node_links;
namespace access {
class node_graph;
class policy;
}  // namespace access

class control_plane {
 public:
  // Starts everything. Returns at once: controllers find their work by the watcher. The store must
  // outlive the system, whose actors may still be handling a message when the control plane ends.
  control_plane(runtime::actor_system& system, persistence::store& store,
                control_plane_options options);
  // Ends the actors that it started.
  ~control_plane();

  // At any moment, from any thread but that of an answer of the store; both return at once, and do
  // nothing where it is so already. After stop_leading() nothing that the controllers had not sent
  // to the store before gets there, and a barrier of the store that is asked for then is passed
  // when all that they had sent is committed or refused. So another one may lead behind it.
  // `fence`: of the term, where the store is shared with other control planes.
  void start_leading(persistence::revision fence = 0);
  void stop_leading();
  bool leads() const;

  const actors::core_actors& core_actors() const noexcept;
  // Takes request_token.
  const runtime::actor_ref& tokens() const noexcept;
  // Null: there is none.
  const token_issuer* issuer() const noexcept;
  // PEM; empty where there is none.
  std::string authority() const;
  // Those of the joined nodes.
  const node_links& links() const noexcept;
  // The same, for who may outlive the control plane, though not the system.
  std::shared_ptr<const node_links> shared_links() const noexcept;
  // The roles and bindings in force; whoever keeps it may outlive the control plane.
  const std::shared_ptr<const access::policy>& policy() const noexcept;
  // What the pods of nodes use, by the newest state.
  const std::shared_ptr<const access::node_graph>& node_graph() const noexcept;
  runtime::actor_system& system() noexcept;
  persistence::store& store() noexcept;

  // Every change passes it. Actors, which need the answer by message, send theirs to the writer.
  write_service& writes() noexcept;
  // write_service::submit with the request as its cause.
  void commit(persistence::transaction transaction, std::uint64_t request,
              std::function<void(persistence::outcome)> done);
  // Commands, carried out by the writer.
  void bind(actors::bind binding, std::uint64_t request,
            std::function<void(api::expected<api::object_ptr>)> done);
  void evict(actors::evict eviction, std::uint64_t request,
             std::function<void(api::expected<api::object_ptr>)> done);

 private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace troupe::actors
