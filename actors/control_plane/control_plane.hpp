// One control plane over a store and an actor system. It always serves: watcher, writer, recorder
// and the links of joined nodes, which the API server uses. While it leads it also runs the
// controllers, the scheduler and all other actors that only one control plane of a cluster may run
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
  // False: another program binds pods to nodes.
  bool scheduler = true;
  // False: it serves, and leads only after start_leading().
  bool controllers = true;
  // The controllers that run while it leads (controller_selection.hpp).
  std::vector<std::string> enabled_controllers = {"*"};
  // False: the watcher reads the change log itself, and writes are retried on the current thread.
  // For simulations, which have one thread.
  bool reading_thread = true;
  // The probability that an actor's transaction fails with a conflict untried; for simulations.
  double conflict_chance = 0;
  // A node without heartbeats for this time is not ready.
  runtime::duration node_grace = defaults::node_grace;
  capacity_options capacity = {};
  // External steps of admission, in order.
  admission::external_step_list external = {};
  // The oldest events beyond these limits are dropped.
  event_limits events = {};
  // Signs the tokens of service accounts; null: there are none.
  std::shared_ptr<const token_issuer> issuer = {};
  // Signs certificate requests; null: none are signed.
  std::shared_ptr<const certificate_issuer> certificates = {};
  // The CA certificates for pods; null: pods get no access to the API.
  std::shared_ptr<const cluster_authority> authority = {};
  // True: a default storage class provides volumes that are directories of nodes.
  bool local_path_class = false;
  // False: of load balancer Services only those of the nodes' class get the nodes' addresses.
  bool default_load_balancer = true;
  // Ports that none of them gets there.
  std::vector<std::int32_t> reserved_ports = {};
  // True: each service account gets a Secret with a token that does not expire.
  bool legacy_token_secrets = false;
  // The behaviour of simulated pods and nodes; null: only their annotations.
  simulated::policy_ptr simulation_policy = {};
  // The pod address ranges from which nodes get theirs, one for each family; empty: none.
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
  // Starts everything and returns at once: controllers get their work from the watcher. The store
  // must outlive the actor system, whose actors may handle a message after the control plane ends.
  control_plane(runtime::actor_system& system, persistence::store& store,
                control_plane_options options);
  // Stops the actors that it started.
  ~control_plane();

  // Callable at any time, from any thread except a completion of the store; both return at once and
  // are idempotent. After stop_leading() nothing new from the controllers reaches the store, and a
  // barrier of the store that is requested then completes when all earlier writes of theirs are
  // committed or rejected. Another control plane may lead after it. `fence`: the term, if the store
  // is shared with other control planes.
  void start_leading(persistence::revision fence = 0);
  void stop_leading();
  bool leads() const;

  const actors::core_actors& core_actors() const noexcept;
  // The actor that handles request_token.
  const runtime::actor_ref& tokens() const noexcept;
  // Null if there is none.
  const token_issuer* issuer() const noexcept;
  // In PEM; empty if there is none.
  std::string authority() const;
  // The links of joined nodes.
  const node_links& links() const noexcept;
  // The same, for callers that may outlive the control plane, but not the actor system.
  std::shared_ptr<const node_links> shared_links() const noexcept;
  // The current roles and bindings; the pointer may outlive the control plane.
  const std::shared_ptr<const access::policy>& policy() const noexcept;
  // The objects that the pods of nodes use, in the newest state.
  const std::shared_ptr<const access::node_graph>& node_graph() const noexcept;
  runtime::actor_system& system() noexcept;
  persistence::store& store() noexcept;

  // Every change passes through it. Actors need the answer as a message and use the writer instead.
  write_service& writes() noexcept;
  // write_service::submit with the request as its cause.
  void commit(persistence::transaction transaction, std::uint64_t request,
              std::function<void(persistence::outcome)> done);
  // Commands, executed by the writer.
  void bind(actors::bind binding, std::uint64_t request,
            std::function<void(api::expected<api::object_ptr>)> done);
  void evict(actors::evict eviction, std::uint64_t request,
             std::function<void(api::expected<api::object_ptr>)> done);

 private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace troupe::actors
