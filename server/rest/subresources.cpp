#include "server/rest/subresources.hpp"

#include <fmt/format.h>

#include <memory>
#include <utility>
#include <vector>

#include "actors/commands.hpp"
#include "api/scale.hpp"
#include "api/schema/core_binding.pb.h"
#include "api/schema/core_pod.pb.h"
#include "api/schema/policy_v1.pb.h"
#include "api/scheme.hpp"
#include "api/strategy.hpp"
#include "api/validation.hpp"
#include "runtime/system.hpp"
#include "server/rest/patching.hpp"
#include "server/rest/writing.hpp"

namespace troupe::server {
namespace {

using api::autoscaling::v1::Scale;
using api::core::v1::Binding;
using api::core::v1::Pod;
using api::policy::v1::Eviction;
using persistence::snapshot;

const api::kind_info& scale_kind() {
  return api::kind_of<Scale>();
}

void answer_scale(const call_ptr& what, const api::object_ptr& of) {
  what->answer(message_answer(what->form, 200, api::scale_of(of->content()),
                              scale_kind().api_version(), scale_kind().kind()));
}

// The scaled object with the number that `scale` demands.
api::expected<change_plan> plan_scale(const call_ptr& what, const snapshot& state,
                                      const api::object_ptr& was, const api::body& scale) {
  auto causes = api::validate_message(scale);
  if (!causes.empty())
    return api::fail(api::invalid(scale_kind(), was->meta().name(), std::move(causes)));
  const auto demanded = api::precondition_of(scale);
  if (!demanded) return api::fail(demanded.error());
  if (auto fits = api::check_precondition(what->kind(), *demanded, was->content(), was->revision());
      !fits)
    return api::fail(std::move(fits.error()));
  auto now = was->copy();
  api::set_scale(*now, static_cast<const Scale&>(scale));
  return plan_replacement(what, state, was, std::move(now));
}

template <class Read>
void write_scale(const call_ptr& what, bool dry_run, Read read) {
  carry_out(
      what, dry_run,
      [what, read](const snapshot& state) -> api::expected<change_plan> {
        const auto was = state.find(what->key());
        if (!was) return api::fail(api::not_found(what->kind(), what->where.name));
        const auto scale = read(*was);
        if (!scale) return api::fail(scale.error());
        return plan_scale(what, state, was, **scale);
      },
      [what](const change_result& result) { answer_scale(what, result.object); });
}

api::expected<change_plan> as_change(api::expected<actors::command_plan> plan) {
  if (!plan) return api::fail(std::move(plan.error()));
  return change_plan{std::move(plan->what), plan->object, nullptr, 201};
}

// The write options and the body of a request that creates something which is not kept.
struct order {
  write_options options;
  std::shared_ptr<const api::body> content;
};

api::expected<order> read_order(const call_ptr& what, const api::kind_info& kind) {
  auto options = parse_write_options("CreateOptions", what->what->query);
  if (!options) return api::fail(std::move(options.error()));
  auto content = read_body(what, kind, options->fields);
  if (!content) return api::fail(std::move(content.error()));
  if (auto causes = api::validate_message(**content); !causes.empty())
    return api::fail(api::invalid(kind, api::meta_of(**content).name(), std::move(causes)));
  return order{std::move(*options), std::move(*content)};
}

api::expected<actors::bind> bind_of(const call_ptr& what, const Binding& binding) {
  const auto& meta = binding.metadata();
  const auto& target = binding.target();
  std::vector<api::error_cause> causes;
  if (meta.name().empty())
    causes.push_back({"FieldValueRequired", "Required value", "metadata.name"});
  if (!target.kind().empty() && target.kind() != "Node")
    causes.push_back(
        {"FieldValueNotSupported",
         "Unsupported value: \"" + target.kind() + "\": supported values: \"Node\", \"<empty>\"",
         "target.kind"});
  if (target.name().empty())
    causes.push_back({"FieldValueRequired", "Required value", "target.name"});
  if (!causes.empty())
    return api::fail(api::invalid(api::kind_of<Binding>(), meta.name(), std::move(causes)));
  return actors::bind{.pod_key = api::kind_of<Pod>().key(what->where.space, meta.name()),
                      .pod_uid = meta.uid(),
                      .node = target.name()};
}

}  // namespace

void get_scale(const call_ptr& what) {
  const auto found = what->in.read().find(what->key());
  if (!found) return what->fail(api::not_found(what->kind(), what->where.name));
  answer_scale(what, found);
}

void update_scale(const call_ptr& what) {
  const auto options = parse_write_options("UpdateOptions", what->what->query);
  if (!options) return what->fail(options.error());
  auto content = read_body(what, scale_kind(), options->fields);
  if (!content) return what->fail(content.error());
  std::shared_ptr<const api::body> scale{std::move(*content)};
  write_scale(what, options->dry_run, [scale](const api::object&) {
    return api::expected<std::shared_ptr<const api::body>>{scale};
  });
}

void patch_scale(const call_ptr& what) {
  const auto options = parse_write_options("PatchOptions", what->what->query);
  if (!options) return what->fail(options.error());
  const auto change = patch::from(what->what);
  if (!change) return what->fail(change.error());
  write_scale(what, options->dry_run,
              [change = *change, what, fields = options->fields](
                  const api::object& of) -> api::expected<std::shared_ptr<const api::body>> {
                const auto& kind = scale_kind();
                const auto before =
                    api::encode_json(api::scale_of(of.content()), kind.api_version(), kind.kind());
                const auto after = change.apply(*what, before, kind.type(), fields);
                if (!after) return api::fail(after.error());
                auto scale = api::decode(*after, api::media::json, &kind, {.fields = fields});
                if (!scale) return api::fail(std::move(scale.error()));
                what->warn(scale->warnings);
                return std::shared_ptr<const api::body>{std::move(scale->content)};
              });
}

void create_binding(const call_ptr& what) {
  const auto read = read_order(what, api::kind_of<Binding>());
  if (!read) return what->fail(read.error());
  const auto command = bind_of(what, static_cast<const Binding&>(*read->content));
  if (!command) return what->fail(command.error());
  carry_out(
      what, read->options.dry_run,
      [what, command = *command](const snapshot& state) {
        return as_change(
            actors::plan_bind(state, command, what->in.plane.company().time().wall_now()));
      },
      [what](const change_result&) { what->succeed(201); });
}

void refuse_stream(const call_ptr& what) {
  const auto name = what->where.name;
  if (!what->in.read().find(what->key())) return what->fail(api::not_found(what->kind(), name));
  auto out = api::method_not_supported(what->kind(), what->where.subresource);
  out.name = name;
  out.message = fmt::format(
      "pods \"{}\": {} is not supported by this server: it opens no streams into containers that "
      "run; what they print is shown by the log",
      name, what->where.subresource);
  what->fail(out);
}

void create_eviction(const call_ptr& what) {
  const auto read = read_order(what, api::kind_of<Eviction>());
  if (!read) return what->fail(read.error());
  const auto& eviction = static_cast<const Eviction&>(*read->content);
  const auto& how = eviction.delete_options();
  const bool dry_run = read->options.dry_run || !how.dry_run().empty();
  actors::evict command{
      .pod_key = what->key(),
      .pod_uid = how.preconditions().uid(),
      .grace_seconds = how.has_grace_period_seconds() ? how.grace_period_seconds() : -1,
      .reason = "EvictionByEvictionAPI",
      .message = "Eviction API: evicting"};
  carry_out(
      what, dry_run,
      [what, command](const snapshot& state) {
        return as_change(
            actors::plan_evict(state, command, what->in.plane.company().time().wall_now()));
      },
      [what](const change_result&) { what->succeed(201); });
}

}  // namespace troupe::server
