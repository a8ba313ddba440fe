#include "actors/namespaces/namespace_rules.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "actors/core/condition.hpp"
#include "api/schema/core_pod.pb.h"
#include "api/scheme.hpp"

namespace troupe::actors {

using api::core::v1::Namespace;
using api::core::v1::Pod;

namespace {

void survey_kind(const persistence::snapshot& state, const api::kind_info& kind,
                 const std::string& ns, std::size_t limit, namespace_content& content) {
  const auto prefix = kind.prefix(ns);
  if (const auto count = state.count(prefix); count != 0) {
    content.remaining[kind.qualified_plural()] = count;
  }
  state.scan(prefix, {}, [&](std::string_view, const api::object_ptr& object) {
    if (!object->meta().has_deletion_timestamp()) {
      content.to_remove.push_back(object);
    } else {
      for (const auto& each : object->meta().finalizers())
        ++content.finalizers[each];
    }
    return content.to_remove.size() < limit;
  });
}

std::string listed(const std::map<std::string, std::size_t>& counts, const char* form) {
  std::string text;
  for (const auto& [name, count] : counts) {
    if (!text.empty()) text += ", ";
    text += fmt::format(fmt::runtime(form), name, count);
  }
  return text;
}

}  // namespace

bool terminating(const Namespace& ns) {
  return ns.metadata().has_deletion_timestamp() || ns.status().phase() == "Terminating";
}

namespace_content survey(const persistence::snapshot& state, const std::string& ns,
                         std::size_t limit) {
  namespace_content content;
  const auto& pods = api::kind_of<Pod>();
  survey_kind(state, pods, ns, limit, content);
  const bool pods_left = !content.remaining.empty();
  const auto kinds = api::scheme::instance().kinds();
  for (const auto* kind : kinds->stored()) {
    if (!kind->namespaced() || kind == &pods) continue;
    if (!pods_left) {
      survey_kind(state, *kind, ns, limit, content);
    } else if (const auto count = state.count(kind->prefix(ns)); count != 0) {
      content.remaining[kind->qualified_plural()] = count;
    }
  }
  return content;
}

std::unique_ptr<Namespace> progressed(const Namespace& ns, const namespace_content& content,
                                      runtime::wall_time now) {
  auto next = std::make_unique<Namespace>(ns);
  auto& conditions = *next->mutable_status()->mutable_conditions();
  bool changed = false;
  const auto set = [&](const condition_value& value) {
    changed = set_condition(conditions, value, now) || changed;
  };
  if (content.remaining.empty()) {
    auto& finalizers = *next->mutable_spec()->mutable_finalizers();
    const auto end = std::remove(finalizers.begin(), finalizers.end(), finalizer_kubernetes);
    changed = end != finalizers.end();
    finalizers.erase(end, finalizers.end());
    const bool goes = finalizers.empty() && ns.metadata().finalizers().empty();
    return changed || goes ? std::move(next) : nullptr;
  }
  set({"NamespaceDeletionDiscoveryFailure", "False", "ResourcesDiscovered",
       "All resources successfully discovered"});
  set({"NamespaceDeletionGroupVersionParsingFailure", "False", "ParsedGroupVersions",
       "All legacy kube types successfully parsed"});
  set({"NamespaceDeletionContentFailure", "False", "ContentDeleted",
       "All content successfully deleted, may be waiting on finalization"});
  const auto resources =
      "Some resources are remaining: " + listed(content.remaining, "{}. has {} resource instances");
  set({"NamespaceContentRemaining", "True", "SomeResourcesRemain", resources});
  if (content.finalizers.empty()) {
    set({"NamespaceFinalizersRemaining", "False", "ContentHasNoFinalizers",
         "All content-preserving finalizers finished"});
  } else {
    const auto finalizers = "Some content in the namespace has finalizers remaining: " +
                            listed(content.finalizers, "{} in {} resource instances");
    set({"NamespaceFinalizersRemaining", "True", "SomeFinalizersRemain", finalizers});
  }
  return changed ? std::move(next) : nullptr;
}

}  // namespace troupe::actors
