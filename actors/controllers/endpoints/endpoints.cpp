#include "actors/controllers/endpoints/endpoints.hpp"

#include "actors/controllers/endpoints/endpoint_list.hpp"
#include "actors/controllers/kit/reconciler.hpp"
#include "api/equality.hpp"
#include "api/scheme.hpp"

namespace troupe::actors::endpoints {
namespace {

using api::core::v1::Endpoints;
using api::core::v1::Pod;
using api::core::v1::Service;

// A sync looks at all pods behind the Service; meanwhile and for so long after it changes gather.
constexpr auto pause_per_pod = std::chrono::microseconds{20};

// Endpoints of a Service without a selector are its user's to write.
api::label_selector pods_of(const api::object& owner) {
  const auto& spec = owner.as<Service>().spec();
  return spec.selector().empty() ? api::label_selector::nothing() : compile(spec.selector());
}

class endpoints_controller : public reconciler {
 public:
  using reconciler::reconciler;

 private:
  void sync() override {
    const auto& service = owner()->as<Service>();
    if (service.spec().selector().empty() || owner()->meta().has_deletion_timestamp()) return;
    std::vector<api::object_ptr> pods;
    for (const auto& [key, pod] : observed())
      pods.push_back(pod);
    auto wanted = endpoints_of(service, pods);
    const auto& kind = api::kind_of<Endpoints>();
    // Somebody else may have made it, or a Service of that name before: it is this one's now.
    const auto present =
        read_store().find(kind.key(service.metadata().namespace_(), service.metadata().name()));
    if (!present) return make(std::move(wanted));
    auto changed = present->copy_as<Endpoints>();
    *changed->mutable_subsets() = std::move(*wanted->mutable_subsets());
    *changed->mutable_metadata()->mutable_labels() = wanted->metadata().labels();
    if (controller_uid(*present) != owner()->meta().uid()) {
      changed->mutable_metadata()->clear_owner_references();
      add_controller_reference(*owner(), *changed->mutable_metadata());
    }
    set_annotation(*changed, *wanted, "endpoints.kubernetes.io/over-capacity");
    if (!api::same_meaning(*changed, present->content())) replace(present, std::move(changed));
  }

  runtime::duration pause_between_syncs() const override {
    return pause_per_pod * static_cast<std::int64_t>(observed().size());
  }

  void make(std::unique_ptr<Endpoints> wanted) {
    if (const auto sent = create(std::move(wanted)); !sent) {
      record(true, "FailedToCreateEndpoint",
             "Failed to create endpoint for service " + owner()->meta().namespace_() + "/" +
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
};

}  // namespace

controller_type controller() {
  return {.name = "endpoints",
          .purpose = "the addresses of the pods behind each Service",
          .owners = {{.kind = &api::kind_of<Service>(),
                      .actor_kind = "service",
                      .component = "endpoint-controller",
                      .observes = &pods_of}},
          .dependents = {&api::kind_of<Endpoints>()},
          .make = make_controller<endpoints_controller>,
          .observed = {&api::kind_of<Pod>()}};
}

}  // namespace troupe::actors::endpoints
