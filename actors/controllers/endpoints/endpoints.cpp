#include "actors/controllers/endpoints/endpoints.hpp"

#include <fmt/format.h>

#include <map>
#include <string>
#include <utility>

#include "actors/controllers/endpoints/endpoint_list.hpp"
#include "actors/controllers/endpoints/endpoint_slices.hpp"
#include "actors/controllers/kit/reconciler.hpp"
#include "actors/core/labels.hpp"
#include "api/equality.hpp"
#include "api/schema/core_node.pb.h"
#include "api/scheme.hpp"

namespace troupe::actors::endpoints {
namespace {

using api::core::v1::Endpoints;
using api::core::v1::Node;
using api::core::v1::Pod;
using api::core::v1::Service;
using api::discovery::v1::EndpointSlice;

// Batches the changes of pods that start or end together: a change waits for others only if one was
// just written.
constexpr auto gather_changes = std::chrono::milliseconds{50};

// The period of updates of the zones, for Services with topology hints.
constexpr auto look_at_zones = std::chrono::minutes{1};

// The Endpoints of a Service without a selector are managed by the user, and an ExternalName has
// none.
bool has_pods(const Service& service) {
  return !service.spec().selector().empty() && service.spec().type() != "ExternalName";
}

api::label_selector pods_of(const api::object& owner) {
  const auto& service = owner.as<Service>();
  return has_pods(service) ? compile(service.spec().selector()) : api::label_selector::nothing();
}

class endpoints_controller : public reconciler {
 public:
  using reconciler::reconciler;

 private:
  void sync() override {
    const auto& service = owner()->as<Service>();
    if (owner()->meta().has_deletion_timestamp()) return;
    if (!has_pods(service)) return release_endpoints();
    std::vector<api::object_ptr> pods;
    for (const auto& [key, pod] : observed())
      pods.push_back(pod);
    pause(gather_changes);
    write_endpoints(endpoints_of(service, pods));
    const auto state = read_store();
    const auto zone_of_node = [&](const auto& name) {
      const auto node = state.find(api::kind_of<Node>().key({}, name));
      return node ? zone_of(*node) : std::string{};
    };
    const bool hinted = wants_topology_hints(service);
    auto plan = plan_slices(service, pods, slices(), zone_of_node, hinted ? zones() : zone_cpu{});
    record_hints(std::move(plan.no_hints));
    write_slices(std::move(plan));
  }

  // This actor gets no events of nodes.
  void after_sync() override {
    if (owner() && wants_topology_hints(owner()->as<Service>())) enqueue_in(look_at_zones);
  }

  zone_cpu zones() {
    std::vector<api::object_ptr> nodes;
    read_store().scan(api::kind_of<Node>().prefix(), {},
                      [&](std::string_view, const api::object_ptr& each) {
                        nodes.push_back(each);
                        return true;
                      });
    count_scanned(nodes.size());
    return cpu_of_zones(nodes);
  }

  // Each result of a family is recorded once.
  void record_hints(std::map<std::string, std::string> problems) {
    for (const auto& [family, problem] : problems) {
      const auto before = hints_.find(family);
      if (before != hints_.end() && before->second == problem) continue;
      record(!problem.empty(),
             problem.empty() ? "TopologyAwareHintsEnabled" : "TopologyAwareHintsDisabled",
             (problem.empty() ? "Topology Aware Hints has been enabled" : problem) +
                 ", addressType: " + family);
    }
    hints_ = std::move(problems);
  }

  void write_endpoints(std::unique_ptr<Endpoints> wanted) {
    const bool truncated = wanted->metadata().annotations().contains(over_capacity);
    if (truncated && !truncated_)
      log_decision(
          fmt::format("has more than {} addresses: its Endpoints list no others", most_addresses));
    truncated_ = truncated;
    const auto& kind = api::kind_of<Endpoints>();
    // A user, or an earlier Service of this name, may have created it: it is adopted.
    const auto present =
        read_store().find(kind.key(wanted->metadata().namespace_(), wanted->metadata().name()));
    if (!present) return make(std::move(wanted));
    auto changed = present->copy_as<Endpoints>();
    *changed->mutable_subsets() = std::move(*wanted->mutable_subsets());
    *changed->mutable_metadata()->mutable_labels() = wanted->metadata().labels();
    const bool adopts = controller_uid(*present) != owner()->meta().uid();
    if (adopts) {
      changed->mutable_metadata()->clear_owner_references();
      add_controller_reference(*owner(), *changed->mutable_metadata());
    }
    set_annotation(*changed, *wanted, over_capacity);
    if (api::same_meaning(*changed, present->content())) return;
    replace(present, std::move(changed), [this, adopts] {
      if (adopts) log_decision("adopts the Endpoints of its name");
    });
  }

  // Those of a Service that no longer has pods stay as they are and are deleted with it, but the
  // user's changes to them are mirrored from now on.
  void release_endpoints() {
    for (const auto& [key, each] : dependents()) {
      if (&each->kind() != &api::kind_of<Endpoints>()) continue;
      auto changed = each->copy_as<Endpoints>();
      remove_controller_reference(*owner(), *changed->mutable_metadata());
      add_owner_reference(*owner(), *changed->mutable_metadata());
      replace(each, std::move(changed),
              [this] { log_decision("selects no pods any more: releases its Endpoints"); });
    }
  }

  std::vector<api::object_ptr> slices() const {
    std::vector<api::object_ptr> found;
    for (const auto& [key, each] : dependents())
      if (&each->kind() == &api::kind_of<EndpointSlice>()) found.push_back(each);
    return found;
  }

  void write_slices(slice_plan plan) {
    for (auto& slice : plan.create)
      make(std::move(slice));
    for (auto& [before, after] : plan.update)
      replace(before, std::move(after));
    for (const auto& each : plan.remove)
      remove_dependent(each);
  }

  void make(std::unique_ptr<api::body> wanted) {
    const auto& kind = api::kind_of_type(*wanted->GetDescriptor()).kind();
    if (const auto sent = create(std::move(wanted)); !sent) {
      record(true, kind == "Endpoints" ? "FailedToCreateEndpoint" : "FailedToUpdateEndpointSlices",
             "Failed to create " + kind + " for service " + owner()->meta().namespace_() + "/" +
                 owner()->meta().name() + ": " + sent.error().message);
      retry();
    }
  }

  static void set_annotation(Endpoints& to, const Endpoints& from, const std::string& name) {
    auto& annotations = *to.mutable_metadata()->mutable_annotations();
    const auto& wanted = from.metadata().annotations();
    if (const auto found = wanted.find(name); found != wanted.end())
      annotations[name] = found->second;
    else
      annotations.erase(name);
  }

  bool truncated_ = false;                    // the last Endpoints
  std::map<std::string, std::string> hints_;  // recorded results of topology hints, by family
};

}  // namespace

controller_type controller() {
  return {.name = "endpoints",
          .purpose = "the addresses of the pods of each Service",
          .owners = {{.kind = &api::kind_of<Service>(),
                      .actor_kind = "service",
                      .component = "endpoint-controller",
                      .observes = &pods_of}},
          .dependents = {&api::kind_of<Endpoints>(), &api::kind_of<EndpointSlice>()},
          .make = make_controller<endpoints_controller>,
          .observed = {&api::kind_of<Pod>()}};
}

}  // namespace troupe::actors::endpoints
