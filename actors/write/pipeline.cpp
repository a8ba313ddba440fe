#include "actors/write/pipeline.hpp"

#include <iterator>
#include <utility>

#include "actors/core/condition.hpp"
#include "api/apply/field_managers.hpp"
#include "api/equality.hpp"
#include "api/object/object_key.hpp"
#include "api/schema/meta_object.pb.h"
#include "api/scheme.hpp"
#include "api/strategy/defaults.hpp"
#include "api/strategy/other_kinds.hpp"
#include "api/strategy/strategy.hpp"
#include "api/validation/validation.hpp"
#include "api/values/uid.hpp"

namespace troupe::actors {
namespace {

// kubernetes: apiserver/pkg/registry/generic/registry, maxNameGenerationCreateAttempts.
constexpr int name_attempts = 8;

std::string key_of(const proposal& of) {
  if (of.before) return api::key_of(*of.before);
  const auto& meta = api::meta_of(*of.after);
  return of.kind->key(meta.namespace_(), meta.name());
}

void prepare_creation(draft& write, const write_context& context) {
  auto& content = *write.of.after;
  write.named_here = write.named_here || api::meta_of(content).name().empty();
  if (write.uid.empty()) write.uid = api::generated_uid(context.random);
  const api::random_bits draw = [&context] { return context.random(); };
  api::prepare_create(*write.of.kind, content,
                      {.uid = write.uid, .now_seconds = seconds_of(context.now), .random = draw});
}

void prepare_update(proposal& of) {
  auto& now = *of.after;
  const auto& was = of.before->content();
  switch (of.rules) {
    case write_rules::status:
      if (of.subresource == "approval") return api::prepare_approval(*of.kind, now, was);
      return api::prepare_status_update(*of.kind, now, was);
    case write_rules::finalize:
      return api::prepare_finalize(now, was);
    case write_rules::ephemeral_containers:
      return api::prepare_ephemeral_containers(now, was);
    case write_rules::pod_resize:
      return api::prepare_pod_resize(now, was);
    case write_rules::as_is:
      return;
    case write_rules::object:
      break;
  }
  api::prepare_update(*of.kind, now, was);
}

void track_fields(proposal& of) {
  if (of.tracking == nullptr) return;
  if (of.tracking->applied)
    *api::meta_of(*of.after).mutable_managed_fields() = *of.tracking->applied;
  else if (of.before)
    api::track_update(*of.kind, *of.after, of.before->content(), of.tracking->by);
}

std::vector<api::error_cause> causes_of(const proposal& of) {
  if (!of.before) return api::validate_create(*of.kind, *of.after);
  const auto& was = of.before->content();
  switch (of.rules) {
    case write_rules::status:
      return api::validate_status_update(*of.kind, *of.after, was);
    case write_rules::ephemeral_containers:
      return api::validate_ephemeral_containers(*of.after, was);
    case write_rules::pod_resize:
      return api::validate_pod_resize(*of.after, was);
    case write_rules::object:
      return api::validate_update(*of.kind, *of.after, was);
    case write_rules::finalize:
    case write_rules::as_is:
      break;
  }
  return {};
}

// For an update: completes a deletion that waited only for finalizers, and drops a no-op update.
bool settle_update(draft& write, write_plan& plan) {
  auto& of = write.of;
  if (!of.before || !of.after || of.rules == write_rules::as_is) return false;
  const auto& was = of.before->content();
  if (api::ends_deletion(*of.kind, *of.after, was)) {
    plan.shown =
        std::make_shared<const api::object>(*of.kind, std::move(of.after), of.before->revision());
    return false;
  }
  api::meta_of(*of.after).set_resource_version(of.before->meta().resource_version());
  return api::same_meaning(*of.after, was);
}

}  // namespace

draft::draft(proposal of, const admission::user& by, bool dry_run, const admission::chain& chain)
    : of{std::move(of)},
      by{by},
      dry_run{dry_run},
      row{chain.find(*this->of.kind, this->of.op, !this->of.subresource.empty())} {}

admission::attributes draft::attributes(const persistence::snapshot& state) {
  return {.state = state,
          .kind = *of.kind,
          .op = of.op,
          .subresource = of.subresource,
          .by = by,
          .dry_run = dry_run,
          .before = of.before ? &of.before->content() : nullptr,
          .now = of.op == admission::operation::remove ? nullptr : of.after.get(),
          .remarks = &remarks};
}

api::expected<void> prepare(draft& write, const write_context& context) {
  auto& of = write.of;
  write.remarks = {};
  if (of.op == admission::operation::remove || !of.after) return {};
  if (of.rules != write_rules::as_is) api::set_defaults(*of.kind, *of.after);
  write.also = {};
  const auto attributes = write.attributes(context.state);
  for (const auto* plugin : write.row.plugins)
    if (auto fine = plugin->mutate(attributes, *of.after, write.also); !fine) return fine;
  if (of.before)
    prepare_update(of);
  else
    prepare_creation(write, context);
  track_fields(of);
  return {};
}

api::expected<void> check(draft& write, const write_context& context) {
  const auto& of = write.of;
  if (of.settled) return {};
  if (of.op != admission::operation::remove && of.after && !of.validated)
    if (auto causes = causes_of(of); !causes.empty())
      return api::fail(api::invalid(*of.kind, api::meta_of(*of.after).name(), std::move(causes)));
  const auto attributes = write.attributes(context.state);
  for (const auto* plugin : write.row.plugins)
    if (auto fine = plugin->validate(attributes); !fine) return fine;
  return {};
}

// A generated name may be taken: then another one is generated.
api::expected<void> check_absent(draft& write, const write_context& context) {
  const auto& of = write.of;
  if (of.before || of.settled) return {};  // settled: it may have neither state
  auto& meta = api::meta_of(*of.after);
  for (int left = write.named_here ? name_attempts : 1;; --left) {
    if (!context.state.find(key_of(of))) return {};
    if (left == 1) return api::fail(api::already_exists(*of.kind, meta.name()));
    meta.set_name(api::generate_name(meta.generate_name(), [&] { return context.random(); }));
  }
}

api::expected<write_plan> finish(draft& write, const write_context& context) {
  auto& of = write.of;
  write_plan plan{.before = of.before};
  if (of.settled || settle_update(write, plan)) return plan;
  auto& into = plan.transaction;
  auto key = key_of(of);
  into.preconditions.push_back({key, of.before ? of.before->revision() : 0});
  into.mutations.push_back({std::move(key), of.kind, std::move(of.after)});
  for (auto* also : {&of.also, &write.also}) {
    std::move(also->preconditions.begin(), also->preconditions.end(),
              std::back_inserter(into.preconditions));
    std::move(also->mutations.begin(), also->mutations.end(), std::back_inserter(into.mutations));
  }
  if (into.mutations.front().content == nullptr || of.op == admission::operation::remove)
    return plan;
  auto attributes = write.attributes(context.state);
  attributes.now = into.mutations.front().content.get();
  for (const auto* plugin : write.row.plugins)
    if (auto fine = plugin->reserve(attributes, into); !fine)
      return api::fail(std::move(fine.error()));
  return plan;
}

api::expected<write_plan> admit(draft& write, const write_context& context) {
  if (auto fine = prepare(write, context); !fine) return api::fail(std::move(fine.error()));
  if (auto fine = check(write, context); !fine) return api::fail(std::move(fine.error()));
  return finish(write, context);
}

}  // namespace troupe::actors
