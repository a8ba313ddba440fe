#include "server/rest/handlers/subresources.hpp"

#include <fmt/format.h>

#include <memory>
#include <utility>
#include <vector>

#include "actors/write/commands.hpp"
#include "actors/write/eviction.hpp"
#include "api/codec/codec.hpp"
#include "api/schema/core_binding.pb.h"
#include "api/schema/core_pod.pb.h"
#include "api/schema/policy_v1.pb.h"
#include "api/scheme.hpp"
#include "api/strategy/scale.hpp"
#include "api/strategy/strategy.hpp"
#include "api/validation/validation.hpp"
#include "server/rest/handlers/applying.hpp"
#include "server/rest/handlers/patching.hpp"
#include "server/rest/handlers/writing.hpp"

namespace troupe::server {

using api::autoscaling::v1::Scale;
using api::core::v1::Binding;
using api::core::v1::Pod;
using api::policy::v1::Eviction;
using persistence::snapshot;

const api::kind_info& scale_kind() {
  return api::kind_of<Scale>();
}

void answer_scale(const call_ptr& call, const api::object_ptr& object) {
  auto scale = api::scale_of(call->kind(), object->content());
  if (!scale) return call->fail(scale.error());
  call->answer(200,
               std::make_shared<const api::object>(
                   scale_kind(), std::make_unique<Scale>(std::move(*scale)), object->revision()));
}

api::expected<proposal> propose_scale(const call_ptr& call, const api::object_ptr& was,
                                      const api::body& scale) {
  if (call->kind().custom() &&
      static_cast<const Scale&>(scale).spec().replicas() == api::no_replicas)
    return api::fail(
        api::bad_request(fmt::format("the spec replicas field \".{}\" cannot be empty",
                                     fmt::join(api::replicas_path(call->kind()), "."))));
  auto causes = api::validate_message(scale);
  if (!causes.empty())
    return api::fail(api::invalid(scale_kind(), was->meta().name(), std::move(causes)));
  const auto demanded = api::precondition_of(scale);
  if (!demanded) return api::fail(demanded.error());
  if (auto fits = api::check_precondition(call->kind(), *demanded, was->content(), was->revision());
      !fits)
    return api::fail(std::move(fits.error()));
  auto now = was->copy();
  if (auto set = api::set_scale(call->kind(), *now, static_cast<const Scale&>(scale)); !set)
    return api::fail(std::move(set.error()));
  return propose_replacement(call, was, std::move(now));
}

namespace {

template <class Read>
void write_scale(const call_ptr& call, bool dry_run, Read read) {
  carry_out(
      call, dry_run,
      [call, read](const snapshot& state) -> api::expected<proposal> {
        const auto was = state.find(call->key());
        if (!was) return api::fail(api::not_found(call->kind(), call->route.name));
        const auto scale = read(*was);
        if (!scale) return api::fail(scale.error());
        return propose_scale(call, was, **scale);
      },
      [call](const write_result& result) { answer_scale(call, result.object); });
}

// The write options and the body of a request that creates an object which is not stored.
struct order {
  write_options options;
  std::shared_ptr<const api::body> content;
};

api::expected<order> read_order(const call_ptr& call, const api::kind_info& kind,
                                std::string_view also_version = {}) {
  auto options = parse_write_options("CreateOptions", call->request->query);
  if (!options) return api::fail(std::move(options.error()));
  // kubernetes: pkg/registry/core/pod/{rest,storage}, of bindings and evictions.
  const auto other_name = "name in URL does not match name in " + kind.kind() + " object";
  auto content = read_body(call, kind, options->fields,
                           {.also_version = also_version, .other_name = other_name});
  if (!content) return api::fail(std::move(content.error()));
  if (auto causes = api::validate_message(**content); !causes.empty())
    return api::fail(api::invalid(kind, api::meta_of(**content).name(), std::move(causes)));
  return order{std::move(*options), std::move(*content)};
}

api::expected<actors::bind> bind_of(const call_ptr& call, const Binding& binding) {
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
  return actors::bind{.pod_key = api::kind_of<Pod>().key(call->route.ns, meta.name()),
                      .pod_uid = meta.uid(),
                      .node = target.name()};
}

}  // namespace

void get_scale(const call_ptr& call) {
  const auto found = call->services.read().find(call->key());
  if (!found) return call->fail(api::not_found(call->kind(), call->route.name));
  answer_scale(call, found);
}

void update_scale(const call_ptr& call) {
  const auto options = parse_write_options("UpdateOptions", call->request->query);
  if (!options) return call->fail(options.error());
  auto content = read_body(call, scale_kind(), options->fields);
  if (!content) return call->fail(content.error());
  std::shared_ptr<const api::body> scale{std::move(*content)};
  write_scale(call, options->dry_run, [scale](const api::object&) {
    return api::expected<std::shared_ptr<const api::body>>{scale};
  });
}

void patch_scale(const call_ptr& call) {
  if (is_apply_patch(*call)) return apply_scale(call);
  const auto options = parse_patch_options(call->request->query, false);
  if (!options) return call->fail(options.error());
  const auto change = patch::from(*call);
  if (!change) return call->fail(change.error());
  write_scale(call, options->dry_run,
              [change = *change, call, fields = options->fields](
                  const api::object& object) -> api::expected<std::shared_ptr<const api::body>> {
                const auto& kind = scale_kind();
                const auto before =
                    api::encode_json(api::scale_to_change(call->kind(), object.content()),
                                     kind.api_version(), kind.kind());
                auto scale = change.apply(*call, before, kind, fields);
                if (!scale) return api::fail(std::move(scale.error()));
                return std::shared_ptr<const api::body>{std::move(*scale)};
              });
}

void create_binding(const call_ptr& call) {
  const auto read = read_order(call, api::kind_of<Binding>());
  if (!read) return call->fail(read.error());
  const auto command = bind_of(call, static_cast<const Binding&>(*read->content));
  if (!command) return call->fail(command.error());
  carry_out(
      call, read->options.dry_run,
      [call, command = *command](const snapshot& state) {
        return actors::propose(actors::plan_bind(state, command, wall_now(*call)), "binding");
      },
      [call](const write_result&) { call->succeed(201); });
}

void create_eviction(const call_ptr& call) {
  // policy/v1beta1, which kubectl sent until 1.21, has the same form.
  const auto read = read_order(call, api::kind_of<Eviction>(), "policy/v1beta1");
  if (!read) return call->fail(read.error());
  const auto& options = static_cast<const Eviction&>(*read->content).delete_options();
  const bool dry_run = read->options.dry_run || !options.dry_run().empty();
  actors::evict command{
      .pod_key = call->key(),
      .pod_uid = {},
      .grace_seconds = options.has_grace_period_seconds() ? options.grace_period_seconds() : -1,
      .reason = "EvictionByEvictionAPI",
      .message = "Eviction API: evicting"};
  carry_out(
      call, dry_run,
      [call, command, content = read->content](const snapshot& state) -> api::expected<proposal> {
        if (const auto pod = state.find(command.pod_key)) {
          const auto& demanded = static_cast<const Eviction&>(*content).delete_options();
          auto fits = api::check_preconditions(call->kind(), pod->content(), pod->revision(),
                                               demanded.preconditions());
          if (!fits) return api::fail(std::move(fits.error()));
        }
        return actors::propose_eviction(state, command, wall_now(*call));
      },
      [call](const write_result&) { call->succeed(201); });
}

}  // namespace troupe::server
