#include "actors/controllers/slice_mirroring/slice_mirroring.hpp"

#include "actors/controllers/kit/reconciler.hpp"
#include "actors/controllers/slice_mirroring/mirror_plan.hpp"
#include "api/scheme.hpp"

namespace troupe::actors::slice_mirroring {
namespace {

using api::core::v1::Endpoints;
using api::core::v1::Service;
using api::discovery::v1::EndpointSlice;

// Matches all Services: the one of the same name has no distinguishing label.
api::label_selector services_of(const api::object& owner) {
  return is_mirrored(owner) ? api::label_selector{} : api::label_selector::nothing();
}

class mirror_controller final : public reconciler {
 public:
  using reconciler::reconciler;

 private:
  void sync() override {
    if (owner()->meta().has_deletion_timestamp()) return;
    const auto& meta = owner()->meta();
    const auto service =
        read_store().find(api::kind_of<Service>().key(meta.namespace_(), meta.name()));
    std::vector<api::object_ptr> present;
    for (const auto& [key, each] : dependents())
      present.push_back(each);
    auto plan = plan_mirror(*owner(), service, present);
    for (auto& slice : plan.create)
      if (const auto sent = create(std::move(slice)); !sent) {
        record(true, "FailedToUpdateEndpointSlices",
               "Error updating Endpoint Slices for Endpoints " + meta.namespace_() + "/" +
                   meta.name() + ": " + sent.error().message);
        retry();
      }
    for (auto& [before, after] : plan.update)
      replace(before, std::move(after));
    for (const auto& each : plan.remove)
      remove_dependent(each);
  }

  bool take_observed(const watch_event& event) override {
    return event.object && event.object->meta().name() == owner()->meta().name();
  }
};

}  // namespace

controller_type controller() {
  return {.name = "slice_mirroring",
          .purpose = "EndpointSlices of hand-written Endpoints",
          .owners = {{.kind = &api::kind_of<Endpoints>(),
                      .actor_kind = "endpoints",
                      .component = "endpoint-slice-mirroring-controller",
                      .observes = &services_of}},
          .dependents = {&api::kind_of<EndpointSlice>()},
          .make = make_controller<mirror_controller>,
          .observed = {&api::kind_of<Service>()}};
}

}  // namespace troupe::actors::slice_mirroring
