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

// All nodes if the Service is balanced, otherwise none.
api::label_selector nodes_of(const api::object& owner) {
  return is_balanced(owner.as<Service>()) ? api::label_selector{} : api::label_selector::nothing();
}

class balancer_controller final : public reconciler {
 public:
  using reconciler::reconciler;

 private:
  void sync() override {
    const auto& service = owner()->as<Service>();
    // Ignores other classes; a Service that is no longer a load balancer loses its addresses.
    const bool another = service.spec().type() == "LoadBalancer" &&
                         service.spec().load_balancer_class() != balancer_class;
    if (owner()->meta().has_deletion_timestamp() || another) return;
    balancer_plan plan;
    if (is_balanced(service))
      plan = plan_addresses(*owner(), all(api::kind_of<Service>().prefix()),
                            all(api::kind_of<Node>().prefix()), slices());
    if (plan.addresses.empty() && service.status().load_balancer().ingress().empty() &&
        plan.problem == problem_)
      return;
    auto changed = owner()->copy_as<Service>();
    auto& balancer = *changed->mutable_status()->mutable_load_balancer();
    balancer.clear_ingress();
    for (const auto& address : plan.addresses) {
      auto& ingress = *balancer.add_ingress();
      ingress.set_ip(address);
      ingress.set_ip_mode("VIP");
    }
    if (plan.addresses.empty()) changed->mutable_status()->clear_load_balancer();
    if (!plan.problem.empty() && plan.problem != problem_)
      record(true, "SyncLoadBalancerFailed", "Error syncing load balancer: " + plan.problem);
    problem_ = plan.problem;
    if (!api::same_meaning(*changed, owner()->content())) replace(owner(), std::move(changed));
  }

  // A period is needed to see ports that other Services free, and changes of endpoints.
  void after_sync() override {
    if (is_balanced(owner()->as<Service>())) enqueue_in(recheck);
  }

  // A modified Node matters only if the planned addresses change (leases are separate objects).
  bool take_observed(const watch_event& event) override {
    if (event.type != event_type::modified || !event.previous) return true;
    return plan_addresses(*owner(), {}, {event.previous}, {}).addresses !=
           plan_addresses(*owner(), {}, {event.object}, {}).addresses;
  }

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
