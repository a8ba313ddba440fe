#include "actors/controllers/load_balancers/load_balancers.hpp"

#include <algorithm>

#include "actors/controllers/kit/reconciler.hpp"
#include "actors/controllers/load_balancers/balancer_plan.hpp"
#include "actors/core/labels.hpp"
#include "api/equality.hpp"
#include "api/schema/core_node.pb.h"
#include "api/schema/discovery_v1.pb.h"
#include "api/scheme.hpp"

namespace troupe::actors::load_balancers {
namespace {

using api::core::v1::Node;
using api::core::v1::Service;
using api::discovery::v1::EndpointSlice;

// All nodes if the Service may be balanced, otherwise none.
api::label_selector nodes_of(const api::object& owner) {
  return may_be_balanced(owner.as<Service>()) ? api::label_selector{}
                                              : api::label_selector::nothing();
}

class balancer_controller final : public reconciler {
 public:
  using reconciler::reconciler;

 private:
  void sync() override {
    const auto& service = owner()->as<Service>();
    if (owner()->meta().has_deletion_timestamp()) return;
    // A Service that nodes no longer serve loses what they gave it.
    balancer_plan plan;
    if (is_served())
      plan = plan_addresses(*owner(), all(api::kind_of<Service>().prefix()),
                            all(api::kind_of<Node>().prefix()), slices(), rules());
    if (plan.addresses.empty() && !has_traces(service) && plan.problem == problem_) return;
    auto changed = owner()->copy_as<Service>();
    write_addresses(*changed, plan.addresses, wall_now());
    if (!plan.problem.empty() && plan.problem != problem_) {
      log_decision("gets no addresses: " + plan.problem);
      record(true, "SyncLoadBalancerFailed", "Error syncing load balancer: " + plan.problem);
    }
    problem_ = plan.problem;
    if (api::same_meaning(*changed, owner()->content())) return;
    if (plan.problem.empty())
      log_decision("gets " + std::to_string(plan.addresses.size()) + " addresses");
    replace(owner(), std::move(changed));
  }

  // A period is needed to see ports that other Services free, and changes of endpoints.
  void after_sync() override {
    if (is_served()) enqueue_in(recheck);
  }

  // A modified Node matters only if the planned addresses change (leases are separate objects).
  bool take_observed(const watch_event& event) override {
    if (event.type != event_type::modified || !event.previous) return true;
    const auto addresses = [&](const api::object_ptr& node) {
      return plan_addresses(*owner(), {}, {node}, {}, rules()).addresses;
    };
    return addresses(event.previous) != addresses(event.object);
  }

  balancer_rules rules() const {
    return {settings().default_load_balancer, settings().reserved_ports};
  }
  bool is_served() const { return is_balanced(owner()->as<Service>(), rules()); }

  std::vector<api::object_ptr> all(const std::string& prefix) {
    std::vector<api::object_ptr> out;
    read_store().scan(prefix, {}, [&](std::string_view, const api::object_ptr& found) {
      out.push_back(found);
      return true;
    });
    count_scanned(out.size());
    return out;
  }
  std::vector<api::object_ptr> slices() {
    auto out = all(api::kind_of<EndpointSlice>().prefix(owner()->meta().namespace_()));
    std::erase_if(out, [&](const auto& slice) {
      return label_of(*slice, "kubernetes.io/service-name") != owner()->meta().name();
    });
    return out;
  }

  static constexpr runtime::duration recheck = std::chrono::seconds{10};
  std::string problem_;
};

}  // namespace

controller_type controller() {
  return {.name = "load_balancers",
          .purpose = "the nodes' addresses for load balancer Services",
          .owners = {{.kind = &api::kind_of<Service>(),
                      .actor_kind = "loadbalancer",
                      .component = "service-controller",
                      .observes = &nodes_of}},
          .dependents = {},
          .make = make_controller<balancer_controller>,
          .observed = {&api::kind_of<Node>()}};
}

}  // namespace troupe::actors::load_balancers
