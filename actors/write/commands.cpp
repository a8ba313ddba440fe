#include "actors/write/commands.hpp"

#include <spdlog/fmt/fmt.h>

#include <string>
#include <string_view>
#include <utility>

#include "actors/core/condition.hpp"
#include "api/object/object_key.hpp"
#include "api/schema/core_pod.pb.h"
#include "api/schema/meta_request.pb.h"
#include "api/scheme.hpp"
#include "api/strategy/strategy.hpp"

namespace troupe::actors {

using api::core::v1::Pod;

namespace {

std::string_view name_in(std::string_view key) {
  return key.substr(key.rfind('/') + 1);
}

api::expected<api::object_ptr> find(const persistence::snapshot& state, std::string_view key,
                                    std::string_view uid) {
  const auto kind = api::scheme::instance().find_key(key);
  if (!kind) return api::fail(api::bad_request(fmt::format("no kind has key {}", key)));
  auto found = state.find(key);
  if (!found) return api::fail(api::not_found(*kind, name_in(key)));
  if (!uid.empty() && found->meta().uid() != uid) {
    return api::fail(api::conflict(
        *kind, name_in(key),
        fmt::format("Precondition failed: UID in precondition: {}, UID in object meta: {}", uid,
                    found->meta().uid())));
  }
  return found;
}

api::error cannot_bind(const api::object& pod, std::string_view reason) {
  auto refused = api::conflict(pod.kind(), pod.meta().name(), reason);
  refused.kind = "pods/binding";
  refused.message = fmt::format("Operation cannot be fulfilled on pods/binding \"{}\": {}",
                                pod.meta().name(), reason);
  return refused;
}

// Removes the object if `content` is null.
persistence::transaction put_in_place(const api::object& old, std::unique_ptr<api::body> content) {
  persistence::transaction transaction;
  auto key = api::key_of(old);
  transaction.preconditions.push_back({key, old.revision()});
  transaction.mutations.push_back({std::move(key), &old.kind(), std::move(content)});
  return transaction;
}

api::meta::v1::DeleteOptions options_of(std::int64_t grace_seconds, const std::string& policy) {
  api::meta::v1::DeleteOptions options;
  if (grace_seconds >= 0) options.set_grace_period_seconds(grace_seconds);
  if (!policy.empty()) options.set_propagation_policy(policy);
  return options;
}

api::expected<command_plan> plan_deletion(const api::object_ptr& old,
                                          const api::meta::v1::DeleteOptions& options,
                                          runtime::wall_time now) {
  auto next =
      api::plan_delete(old->kind(), old->content(), old->revision(), options, seconds_of(now));
  if (!next) return api::fail(std::move(next.error()));
  command_plan plan{old, {}};
  if (next->step != api::deletion_step::unchanged) {
    plan.transaction = put_in_place(*old, std::move(next->updated));
  }
  return plan;
}

}  // namespace

api::expected<command_plan> plan_bind(const persistence::snapshot& state, const bind& command,
                                      runtime::wall_time now) {
  auto found = find(state, command.pod_key, command.pod_uid);
  if (!found) return api::fail(std::move(found.error()));
  const auto& object = **found;
  const auto& pod = object.as<Pod>();
  const auto& name = pod.metadata().name();
  if (pod.metadata().has_deletion_timestamp()) {
    return api::fail(cannot_bind(
        object, fmt::format("pod {} is being deleted, cannot be assigned to a host", name)));
  }
  if (!pod.spec().node_name().empty()) {
    return api::fail(cannot_bind(object, fmt::format("pod {} is already assigned to node \"{}\"",
                                                     name, pod.spec().node_name())));
  }
  if (pod.spec().scheduling_gates_size() != 0) {
    return api::fail(
        cannot_bind(object, fmt::format("pod {} has non-empty .spec.schedulingGates", name)));
  }
  auto bound = object.copy_as<Pod>();
  bound->mutable_spec()->set_node_name(command.node);
  set_condition(*bound->mutable_status()->mutable_conditions(),
                {.type = "PodScheduled", .status = "True"}, now);
  return command_plan{*found, succeed(object, std::move(bound))};
}

api::expected<command_plan> plan_evict(const persistence::snapshot& state, const evict& command,
                                       runtime::wall_time now) {
  auto found = find(state, command.pod_key, command.pod_uid);
  if (!found) return api::fail(std::move(found.error()));
  auto plan = plan_deletion(*found, options_of(command.grace_seconds, {}), now);
  if (!plan || plan->transaction.mutations.empty() || command.reason.empty()) return plan;
  // A pod that is removed at once gets no condition.
  if (auto* content = plan->transaction.mutations.front().content.get()) {
    set_condition(*static_cast<Pod*>(content)->mutable_status()->mutable_conditions(),
                  {.type = "DisruptionTarget",
                   .status = "True",
                   .reason = command.reason,
                   .message = command.message},
                  now);
  }
  return plan;
}

api::expected<command_plan> plan_remove(const persistence::snapshot& state, const remove& command,
                                        runtime::wall_time now) {
  auto found = find(state, command.key, command.uid);
  if (!found) return api::fail(std::move(found.error()));
  auto fits = api::check_precondition((*found)->kind(), {.revision = command.at, .uid = {}},
                                      (*found)->content(), (*found)->revision());
  if (!fits) return api::fail(std::move(fits.error()));
  return plan_deletion(*found, options_of(command.grace_seconds, command.propagation), now);
}

api::expected<command_plan> plan_removal(const persistence::snapshot& state,
                                         const api::kind_info& kind, std::string_view key,
                                         std::string_view name,
                                         const api::meta::v1::DeleteOptions& options,
                                         runtime::wall_time now) {
  const auto found = state.find(key);
  if (!found) return api::fail(api::not_found(kind, name));
  return plan_deletion(found, options, now);
}

api::expected<proposal> propose(api::expected<command_plan> plan, std::string_view subresource) {
  if (!plan) return api::fail(std::move(plan.error()));
  proposal made{.kind = &plan->object->kind(),
                .op = admission::operation::create,
                .subresource = subresource,
                .rules = write_rules::as_is,
                .before = std::move(plan->object)};
  auto& mutations = plan->transaction.mutations;
  made.settled = mutations.empty();
  if (!made.settled) made.after = std::move(mutations.front().content);
  return made;
}

api::expected<proposal> propose_removal(api::expected<command_plan> plan) {
  auto made = propose(std::move(plan), {});
  if (made) made->op = admission::operation::remove;
  return made;
}

persistence::transaction succeed(const api::object& old, std::unique_ptr<api::body> content) {
  if (api::ends_deletion(old.kind(), *content, old.content())) content.reset();
  return put_in_place(old, std::move(content));
}

}  // namespace troupe::actors
