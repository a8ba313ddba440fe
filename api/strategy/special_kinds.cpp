#include "api/strategy/special_kinds.hpp"

#include <google/protobuf/message.h>

#include <algorithm>

#include "api/equality.hpp"
#include "api/object/custom_body.hpp"
#include "api/object/object.hpp"

namespace troupe::api {

void clear_status(body& content) {
  if (const auto* status = content.GetDescriptor()->FindFieldByName("status"))
    content.GetReflection()->ClearField(&content, status);
}

bool same_but_status(const body& now, const body& was) {
  const auto& type = *now.GetDescriptor();
  for (int i = 0; i < type.field_count(); ++i) {
    const auto* field = type.field(i);
    if (field->name() != "metadata" && field->name() != "status" && !same_field(now, was, *field))
      return false;
  }
  return true;
}

bool same_desired_state(const apps::v1::Deployment& now, const apps::v1::Deployment& was) {
  const auto& a = now.metadata().annotations();
  const auto& b = was.metadata().annotations();
  const auto in_b = [&b](const auto& each) {
    const auto found = b.find(each.first);
    return found != b.end() && found->second == each.second;
  };
  return same_but_status(now, was) && a.size() == b.size() && std::all_of(a.begin(), a.end(), in_b);
}

void begin(core::v1::Namespace& ns) {
  clear_status(ns);
  ns.mutable_status()->set_phase("Active");
  auto& finalizers = *ns.mutable_spec()->mutable_finalizers();
  if (std::find(finalizers.begin(), finalizers.end(), "kubernetes") == finalizers.end())
    finalizers.Add("kubernetes");
}

// -- custom kinds ---------------------------------------------------------------------------------

void begin_custom(const kind_info& kind, body& content) {
  if (kind.options().has_status()) set_member(as_custom(content), "status", {});
}

void keep_custom_status(const kind_info& kind, body& now, const body& was) {
  if (kind.options().has_status())
    set_member(as_custom(now), "status", member_of(as_custom(was), "status"));
}

bool same_custom_desired_state(const kind_info& kind, const body& now, const body& was) {
  const auto& a = as_custom(now);
  const auto& b = as_custom(was);
  return a.rest() == b.rest() || (kind.options().has_status() &&
                                  without_member(a, "status") == without_member(b, "status"));
}

void keep_all_but_custom_status(body& now, const body& was) {
  auto& changed = as_custom(now);
  const auto status = member_of(changed, "status");
  changed.set_rest(as_custom(was).rest());
  set_member(changed, "status", status);
  // kubernetes: apiextensions-apiserver/pkg/registry/customresource, status_strategy.go.
  auto& meta = *changed.mutable_metadata();
  const auto& before = as_custom(was).metadata();
  *meta.mutable_labels() = before.labels();
  *meta.mutable_annotations() = before.annotations();
  *meta.mutable_finalizers() = before.finalizers();
}

}  // namespace troupe::api
