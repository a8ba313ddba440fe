#include "actors/deletion.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "actors/condition.hpp"
#include "api/schema/core_namespace.pb.h"
#include "api/schema/core_pod.pb.h"
#include "api/scheme.hpp"

namespace troupe::actors {

using api::core::v1::Namespace;
using api::core::v1::Pod;

namespace {

bool is(const api::body& content, const google::protobuf::Descriptor* type) {
  return content.GetDescriptor() == type;
}

// Seconds that the object may take to end; only pods have some.
std::int64_t grace_of(const api::body& content, std::int64_t asked) {
  if (!is(content, Pod::descriptor())) return 0;
  const auto& pod = static_cast<const Pod&>(content);
  const auto& phase = pod.status().phase();
  if (pod.spec().node_name().empty() || phase == "Succeeded" || phase == "Failed") return 0;
  const auto own = pod.spec().has_termination_grace_period_seconds()
                       ? pod.spec().termination_grace_period_seconds()
                       : 30;
  const auto grace = asked < 0 ? own : asked;
  return grace < 0 ? 1 : grace;
}

bool hold(api::meta::v1::ObjectMeta& meta, const char* finalizer, bool wanted) {
  auto& all = *meta.mutable_finalizers();
  const auto found = std::find(all.begin(), all.end(), finalizer);
  if ((found != all.end()) == wanted) return false;
  if (wanted) {
    *all.Add() = finalizer;
  } else {
    all.erase(found);
  }
  return true;
}

// True when the finalizers changed.
bool set_propagation(api::meta::v1::ObjectMeta& meta, const api::kind_info& kind,
                     const std::string& asked) {
  const auto& all = meta.finalizers();
  const bool chosen = std::any_of(all.begin(), all.end(), [](const auto& each) {
    return each == finalizer_orphan || each == finalizer_foreground;
  });
  if (asked.empty() && chosen) return false;
  const auto& policy = asked.empty() ? kind.options().default_propagation() : asked;
  const bool orphan = hold(meta, finalizer_orphan, policy == "Orphan");
  const bool foreground = hold(meta, finalizer_foreground, policy == "Foreground");
  return orphan || foreground;
}

// True when the object was marked, or marked to end sooner.
bool mark(api::meta::v1::ObjectMeta& meta, std::int64_t grace, runtime::wall_time now) {
  if (meta.has_deletion_timestamp()) {
    if (grace >= meta.deletion_grace_period_seconds()) return false;
    const auto sooner = meta.deletion_grace_period_seconds() - grace;
    meta.mutable_deletion_timestamp()->set_seconds(meta.deletion_timestamp().seconds() - sooner);
  } else {
    meta.mutable_deletion_timestamp()->set_seconds(seconds_of(now) + grace);
    if (meta.generation() > 0) meta.set_generation(meta.generation() + 1);
  }
  meta.set_deletion_grace_period_seconds(grace);
  return true;
}

}  // namespace

command_plan plan_deletion(const api::object_ptr& old, std::string key,
                           std::unique_ptr<api::body> content, const deletion& how,
                           runtime::wall_time now) {
  const auto& kind = old->kind();
  auto& meta = api::meta_of(*content);
  const bool finalizers_changed = set_propagation(meta, kind, how.propagation);
  const bool marked = mark(meta, grace_of(*content, how.grace_seconds), now);
  if (is(*content, Namespace::descriptor())) {
    static_cast<Namespace&>(*content).mutable_status()->set_phase("Terminating");
  }
  command_plan plan{old, {}};
  if (marked || finalizers_changed || released(kind, *content)) {
    plan.what = replace_or_remove(*old, std::move(key), std::move(content));
  }
  return plan;
}

bool released(const api::kind_info&, const api::body& content) {
  const auto& meta = api::meta_of(content);
  if (!meta.has_deletion_timestamp() || meta.finalizers_size() != 0) return false;
  if (is(content, Namespace::descriptor())) {
    return static_cast<const Namespace&>(content).spec().finalizers_size() == 0;
  }
  return meta.deletion_grace_period_seconds() == 0;
}

persistence::transaction replace_or_remove(const api::object& old, std::string key,
                                           std::unique_ptr<api::body> content) {
  persistence::transaction what;
  what.preconditions.push_back({key, old.revision()});
  if (released(old.kind(), *content)) content.reset();
  what.mutations.push_back({std::move(key), &old.kind(), std::move(content)});
  return what;
}

}  // namespace troupe::actors
