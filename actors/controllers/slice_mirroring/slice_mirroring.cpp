#include "actors/controllers/slice_mirroring/slice_mirroring.hpp"

#include <string>

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
  return is_hand_written(owner) ? api::label_selector{} : api::label_selector::nothing();
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
    if (service) {
      served_ = meta.uid();
    } else if (is_hand_written(*owner()) && (served_ == meta.uid() || !dependents().empty())) {
      return remove_endpoints();
    }
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

  // They go with their Service, as upstream (endpoints_controller.go, syncService). Those that
  // never had one stay: it may follow.
  void remove_endpoints() {
    ask_writer<command_done>(remove{.key = key(),
                                    .uid = owner()->meta().uid(),
                                    .at = owner()->revision(),
                                    .cause = change_cause()},
                             [this](const answer<command_done>& answered) {
                               if (!answered || !(*answered)->result) return retry();
                               refresh(key());
                               log_decision("is deleted: its Service does not exist any more");
                             });
  }

  bool take_observed(const watch_event& event) override {
    return event.object && event.object->meta().name() == owner()->meta().name();
  }

  std::string served_;  // uid of the Endpoints that had a Service
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
