#include "actors/controllers/slice_mirroring/mirror_plan.hpp"

#include <map>
#include <string>

#include "actors/controllers/endpoints/slice_identity.hpp"
#include "actors/controllers/kit/claims.hpp"
#include "actors/core/labels.hpp"
#include "api/equality.hpp"
#include "api/values/cidr.hpp"

namespace troupe::actors::slice_mirroring {
namespace {

using api::core::v1::EndpointAddress;
using api::core::v1::Endpoints;
using api::core::v1::EndpointSubset;
using api::core::v1::Service;
using api::discovery::v1::EndpointSlice;

constexpr const char* manager = "endpointslicemirroring-controller.k8s.io";
constexpr const char* skip_label = "endpointslice.kubernetes.io/skip-mirror";
// The annotation of old leader election locks, which change each second.
constexpr const char* leader_annotation = "control-plane.alpha.kubernetes.io/leader";
constexpr const char* change_annotation = "endpoints.kubernetes.io/last-change-trigger-time";
constexpr const char* applied_annotation = "kubectl.kubernetes.io/last-applied-configuration";

using group_key = std::pair<std::string, endpoints::port_key>;  // by family

void add_endpoint(EndpointSlice& to, const EndpointAddress& from, bool ready) {
  auto& made = *to.add_endpoints();
  made.add_addresses(from.ip());
  made.mutable_conditions()->set_ready(ready);
  if (!from.hostname().empty()) made.set_hostname(from.hostname());
  if (!from.node_name().empty()) made.set_node_name(from.node_name());
  if (from.has_target_ref()) *made.mutable_target_ref() = from.target_ref();
}

void write_head(const api::object& endpoints, const group_key& key, EndpointSlice& slice) {
  auto& meta = *slice.mutable_metadata();
  auto& labels = *meta.mutable_labels();
  labels = endpoints.meta().labels();
  endpoints::set_owner_labels(labels, endpoints.meta().name(), manager);
  auto& annotations = *meta.mutable_annotations();
  annotations = endpoints.meta().annotations();
  annotations.erase(change_annotation);
  annotations.erase(applied_annotation);
  slice.set_address_type(key.first);
  endpoints::set_ports(slice, key.second);
}

using groups = std::map<group_key, std::unique_ptr<EndpointSlice>>;

void add_subset(groups& to, const EndpointSubset& subset) {
  const auto ports = endpoints::key_of(subset.ports());
  int added = 0;
  const auto add = [&](const auto& addresses, bool ready) {
    for (const auto& each : addresses) {
      const std::string family{api::ip_family(each.ip())};
      if (family.empty() || added++ >= most_addresses) continue;
      auto& slice = to[{family, ports}];
      if (!slice) slice = std::make_unique<EndpointSlice>();
      if (slice->endpoints_size() < most_addresses) add_endpoint(*slice, each, ready);
    }
  };
  add(subset.addresses(), true);
  add(subset.not_ready_addresses(), false);
}

}  // namespace

bool is_hand_written(const api::object& endpoints) {
  const auto* owner = controller_of(endpoints);
  return owner == nullptr || owner->kind() != "Service";
}

bool is_mirrored(const api::object& endpoints) {
  const auto& meta = endpoints.meta();
  return is_hand_written(endpoints) && !meta.has_deletion_timestamp() &&
         label_of(endpoints, skip_label) != "true" &&
         !meta.annotations().contains(leader_annotation);
}

mirror_plan plan_mirror(const api::object& endpoints, const api::object_ptr& service,
                        const std::vector<api::object_ptr>& present) {
  groups wanted;
  if (is_mirrored(endpoints) && service && service->as<Service>().spec().selector().empty())
    for (const auto& subset : endpoints.as<Endpoints>().subsets())
      add_subset(wanted, subset);
  mirror_plan plan;
  for (const auto& object : present) {
    const auto& slice = object->as<EndpointSlice>();
    const auto found = wanted.find({slice.address_type(), endpoints::key_of(slice.ports())});
    if (found == wanted.end() || object->meta().has_deletion_timestamp()) {
      plan.remove.push_back(object);
      continue;
    }
    auto after = object->copy_as<EndpointSlice>();
    after->mutable_endpoints()->Swap(found->second->mutable_endpoints());
    write_head(endpoints, found->first, *after);
    if (!api::same_meaning(*after, object->content()))
      plan.update.emplace_back(object, std::move(after));
    wanted.erase(found);
  }
  for (auto& [key, slice] : wanted) {
    slice->mutable_metadata()->set_generate_name(endpoints.meta().name() + "-");
    slice->mutable_metadata()->set_namespace_(endpoints.meta().namespace_());
    write_head(endpoints, key, *slice);
    plan.create.push_back(std::move(slice));
  }
  return plan;
}

}  // namespace troupe::actors::slice_mirroring
