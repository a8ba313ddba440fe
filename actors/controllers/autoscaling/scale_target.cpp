#include "actors/controllers/autoscaling/scale_target.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "api/kind.hpp"
#include "api/schema/core_pod.pb.h"
#include "api/scheme.hpp"
#include "api/selectors/selector.hpp"
#include "api/strategy/scale.hpp"

namespace troupe::actors::autoscaling {
namespace {

using api::autoscaling::v2::HorizontalPodAutoscaler;
using api::core::v1::Pod;

tl::unexpected<std::string> fail(std::string problem) {
  return tl::make_unexpected(std::move(problem));
}

// True if the selector matches one of the pods.
bool selects_one(const api::label_selector& selector, const std::vector<api::object_ptr>& pods) {
  return std::any_of(pods.begin(), pods.end(),
                     [&](const auto& pod) { return selector.matches(pod->meta().labels()); });
}

}  // namespace

api::kind_handle find_kind(const std::string& api_version, std::string_view group,
                           const std::string& kind) {
  const auto& scheme = api::scheme::instance();
  if (auto named = scheme.find(api_version, kind)) return named;
  for (const auto* each : scheme.all())
    if (each->group() == group && each->kind() == kind) return each;
  return nullptr;
}

result<scale_target> find_target(const persistence::snapshot& state,
                                 const HorizontalPodAutoscaler& autoscaler) {
  const auto& reference = autoscaler.spec().scale_target_ref();
  const auto& version = reference.api_version();
  const auto slash = version.find('/');
  if (slash != std::string::npos && version.find('/', slash + 1) != std::string::npos)
    return fail("unexpected GroupVersion string: " + version);
  const auto group = slash == std::string::npos ? std::string{} : version.substr(0, slash);
  const auto kind = find_kind(version, group, reference.kind());
  if (!kind)
    return fail(fmt::format("no matches for kind \"{}\" in group \"{}\"", reference.kind(), group));
  if (!kind->options().has_scale()) return fail("the server could not find the requested resource");
  auto object = state.find(kind->key(autoscaler.metadata().namespace_(), reference.name()));
  if (!object) return fail(api::not_found(*kind, reference.name()).message);
  auto scale = api::scale_of(object->kind(), object->content());
  if (!scale) return fail(scale.error().message);
  return scale_target{std::move(object), std::move(*scale)};
}

std::vector<api::object_ptr> pods_of(const persistence::snapshot& state, const std::string& ns,
                                     const api::autoscaling::v1::Scale& scale) {
  std::vector<api::object_ptr> pods;
  const auto selector = api::label_selector::parse(scale.status().selector());
  if (!selector || scale.status().selector().empty()) return pods;
  state.scan(api::kind_of<Pod>().prefix(ns), {}, [&](std::string_view, const api::object_ptr& pod) {
    if (selector->matches(pod->meta().labels())) pods.push_back(pod);
    return true;
  });
  return pods;
}

std::vector<std::string> autoscalers_of(const persistence::snapshot& state, const std::string& ns,
                                        const std::vector<api::object_ptr>& pods) {
  std::vector<std::string> names;
  if (pods.empty()) return names;
  state.scan(api::kind_of<HorizontalPodAutoscaler>().prefix(ns), {},
             [&](std::string_view, const api::object_ptr& each) {
               const auto target = find_target(state, each->as<HorizontalPodAutoscaler>());
               if (!target || target->scale.status().selector().empty()) return true;
               const auto selector = api::label_selector::parse(target->scale.status().selector());
               if (selector && selects_one(*selector, pods)) names.push_back(each->meta().name());
               return true;
             });
  return names;
}

}  // namespace troupe::actors::autoscaling
