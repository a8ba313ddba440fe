#include "api/strategy/scale.hpp"

#include <google/protobuf/message.h>

#include <utility>

#include "api/invariant.hpp"
#include "api/object/custom_body.hpp"
#include "api/object/object.hpp"
#include "api/schema/apps_sets.pb.h"
#include "api/schema/apps_v1.pb.h"
#include "api/schema/core_replication.pb.h"
#include "api/selectors/selector.hpp"
#include "api/version_rules.hpp"

namespace troupe::api {
namespace {

label_selector selector_of(const google::protobuf::Map<std::string, std::string>& labels) {
  return label_selector::from(labels);
}
label_selector selector_of(const meta::v1::LabelSelector& selector) {
  // It was validated when the object was stored.
  return label_selector::from(selector).value_or(label_selector::nothing());
}

autoscaling::v1::Scale scale_for(const meta::v1::ObjectMeta& from) {
  autoscaling::v1::Scale scale;
  auto& meta = *scale.mutable_metadata();
  meta.set_name(from.name());
  meta.set_namespace_(from.namespace_());
  meta.set_uid(from.uid());
  meta.set_resource_version(from.resource_version());
  *meta.mutable_creation_timestamp() = from.creation_timestamp();
  return scale;
}

template <class Object>
autoscaling::v1::Scale read(const Object& object) {
  auto scale = scale_for(object.metadata());
  scale.mutable_spec()->set_replicas(object.spec().replicas());
  scale.mutable_status()->set_replicas(object.status().replicas());
  scale.mutable_status()->set_selector(selector_of(object.spec().selector()).str());
  return scale;
}

// Calls `call` with the concrete type of the object.
template <class Body, class Call>
auto with(Body& content, Call call) {
  const auto* type = content.GetDescriptor();
  if (type == core::v1::ReplicationController::descriptor())
    return call.template operator()<core::v1::ReplicationController>();
  if (type == apps::v1::ReplicaSet::descriptor())
    return call.template operator()<apps::v1::ReplicaSet>();
  if (type == apps::v1::StatefulSet::descriptor())
    return call.template operator()<apps::v1::StatefulSet>();
  ensure(type == apps::v1::Deployment::descriptor(), "only scalable kinds have a scale");
  return call.template operator()<apps::v1::Deployment>();
}

}  // namespace

expected<autoscaling::v1::Scale> scale_of(const kind_info& kind, const body& content) {
  if (kind.custom()) {
    const auto found = kind.rules()->scale(as_custom(content));
    if (!found) return fail(found.error());
    auto scale = scale_for(meta_of(content));
    scale.mutable_spec()->set_replicas(found->wanted);
    scale.mutable_status()->set_replicas(found->actual);
    scale.mutable_status()->set_selector(found->selector);
    return scale;
  }
  return with(content, [&]<class T>() { return read(static_cast<const T&>(content)); });
}

autoscaling::v1::Scale scale_to_change(const kind_info& kind, const body& content) {
  if (auto known = scale_of(kind, content)) return std::move(*known);
  auto scale = scale_for(meta_of(content));
  scale.mutable_spec()->set_replicas(no_replicas);
  return scale;
}

std::vector<std::string> replicas_path(const kind_info& kind) {
  if (kind.custom()) return kind.rules()->replicas_path();
  return {"spec", "replicas"};
}

expected<void> set_scale(const kind_info& kind, body& content,
                         const autoscaling::v1::Scale& scale) {
  if (kind.custom()) return kind.rules()->set_replicas(as_custom(content), scale.spec().replicas());
  with(content, [&]<class T>() {
    static_cast<T&>(content).mutable_spec()->set_replicas(scale.spec().replicas());
  });
  return {};
}

}  // namespace troupe::api
