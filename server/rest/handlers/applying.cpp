#include "server/rest/handlers/applying.hpp"

#include <algorithm>
#include <utility>

#include "actors/core/condition.hpp"
#include "api/apply/managers.hpp"
#include "api/apply/scale_managers.hpp"
#include "api/codec/json_decode.hpp"
#include "api/conversion/shapes.hpp"
#include "api/object/object.hpp"
#include "api/schema/meta_object.pb.h"
#include "api/scheme.hpp"
#include "api/strategy/scale.hpp"
#include "api/strategy/strategy.hpp"
#include "server/rest/handlers/subresources.hpp"
#include "server/rest/handlers/writing.hpp"
#include "server/rest/requests/options.hpp"

namespace troupe::server {

using persistence::snapshot;

namespace {

// The sent configuration, parsed once: each attempt merges it into the current
// object.
struct configuration {
  std::string json;  // in stored form
  api::field_manager by;
  api::field_validation fields;
};

std::string manager_of(const call& call) {
  auto name = call.request->query.get_or("fieldManager", "");
  if (!name.empty()) return name;
  const auto agent = call.request->headers.get("user-agent");
  for (const char c : agent.substr(0, agent.find('/')))
    if (c >= 0x20 && c < 0x7f && name.size() < api::limits::field_manager_bytes) name += c;
  return name;
}

api::field_manager written_by(const call& call, std::string name) {
  return {.name = std::move(name),
          .subresource = std::string{call.route.subresource},
          .now_seconds = actors::seconds_of(wall_now(call))};
}

api::expected<std::string> json_of(const call& call) {
  const std::string_view sent = call.request->content;
  const auto first = sent.find_first_not_of(" \t\r\n");
  if (first != sent.npos && sent[first] == '{') return std::string{sent};
  auto json = api::yaml_to_json(sent);
  if (!json && json.error().code == 400) json.error().message.insert(0, "error decoding YAML: ");
  return json;
}

// Sets the name and namespace of the URL, which the object may omit.
api::expected<void> settle_place(const call_ptr& call, api::body& content) {
  if (auto named = check_name(call, content); !named) return named;
  return api::settle_namespace(call->kind(), content, call->route.ns);
}

// kubernetes: apimachinery/pkg/util/managedfields, versioncheck.go and structuredmerge.go.
api::expected<void> check_type(std::string_view sent, const api::kind_info& kind) {
  const auto names = api::find_type_names(sent);
  if (names.kind == kind.kind() && names.api_version == kind.api_version()) return {};
  const auto slash = names.api_version.find('/');
  const auto group =
      slash == names.api_version.npos ? std::string{} : names.api_version.substr(0, slash);
  if (names.kind != kind.kind() || group != kind.group() || names.api_version.empty())
    return api::fail(api::bad_request(
        "invalid object type: " + (slash == names.api_version.npos ? "/" : std::string{}) +
        names.api_version + ", Kind=" + names.kind));
  return api::fail(api::bad_request(
      "Incorrect version specified in apply patch. Specified patch version: " + names.api_version +
      ", expected: " + kind.api_version()));
}

// `kind` is the call's kind, or that of its subresource.
api::expected<configuration> read_configuration(const call_ptr& call, const api::kind_info& kind,
                                                const write_options& options) {
  auto sent = json_of(*call);
  if (!sent) return api::fail(std::move(sent.error()));
  if (auto fine = check_type(*sent, kind); !fine) return api::fail(std::move(fine.error()));
  auto read = api::decode(*sent, api::media::json, &kind, {.fields = options.fields});
  if (!read) return api::fail(std::move(read.error()));
  call->warn(read->warnings);
  if (!api::meta_of(*read->content).managed_fields().empty())
    return api::fail(api::bad_request("metadata.managedFields must be nil"));
  if (auto settled = settle_place(call, *read->content); !settled)
    return api::fail(std::move(settled.error()));
  auto by = written_by(*call, options.manager);
  by.force = options.force;
  return configuration{
      api::in_stored_form(kind, *sent,
                          api::encode_json(*read->content, kind.api_version(), kind.kind())),
      std::move(by), options.fields};
}

api::expected<std::unique_ptr<api::body>> body_of(const call_ptr& call, const std::string& json,
                                                  api::field_validation fields) {
  auto read = api::decode(json, api::media::json, &call->kind(), {});
  if (!read) return api::fail(std::move(read.error()));
  if (auto settled = settle_place(call, *read->content); !settled)
    return api::fail(std::move(settled.error()));
  if (auto fine = complete_custom(call, call->kind(), *read->content, fields); !fine)
    return api::fail(std::move(fine.error()));
  return std::move(read->content);
}

proposal nothing_to_do(const call_ptr& call, const api::object_ptr& was) {
  return {.kind = &api::home_of(call->kind()),
          .op = actors::admission::operation::update,
          .subresource = call->route.subresource,
          .rules = actors::write_rules::as_is,
          .before = was,
          .settled = true};
}

api::expected<proposal> propose(const call_ptr& call, const snapshot& state,
                                const configuration& of) {
  const auto was = state.find(call->key());
  if (!was && !call->route.subresource.empty())
    return api::fail(api::not_found(call->kind(), call->route.name));
  if (!was)
    if (auto may = may_create(*call); !may) return api::fail(std::move(may.error()));
  const auto shown = api::convert_from_home(call->kind(), was);
  auto applied = shown ? api::apply_fields(call->kind(), *shown->json_text(),
                                           shown->meta().managed_fields(), of.json, of.by)
                       : api::apply_fields(call->kind(), {}, of.json, of.by);
  if (!applied) return api::fail(std::move(applied.error()));
  if (applied->unchanged) return nothing_to_do(call, was);
  auto now = body_of(call, applied->json, of.fields);
  if (!now) return api::fail(std::move(now.error()));
  const auto& uid = api::meta_of(**now).uid();
  if (!was && !uid.empty())
    return api::fail(api::conflict(call->kind(), call->route.name,
                                   "uid mismatch: the provided object specified uid " + uid +
                                       ", and no existing object was found"));
  auto made = was ? propose_replacement(call, was, std::move(*now))
                  : propose_creation(call, std::move(*now));
  if (made)
    made->tracking = std::make_shared<const actors::field_tracking>(
        actors::field_tracking{.by = of.by, .applied = std::move(applied->managed)});
  return made;
}

// Applies the scale as an object of its own; its managers are those of the replica count.
api::expected<proposal> propose_applied_scale(const call_ptr& call, const snapshot& state,
                                              const configuration& of) {
  const auto was = state.find(call->key());
  if (!was) return api::fail(api::not_found(call->kind(), call->route.name));
  auto scale = api::scale_to_change(call->kind(), was->content());
  const bool has_count = scale.spec().replicas() != api::no_replicas;
  if (!has_count) scale.mutable_spec()->clear_replicas();
  const auto path = api::replicas_path(call->kind());
  auto owners = was->meta().managed_fields();
  if (owners.empty())
    owners = api::before_first_apply(
        call->kind(), *api::convert_from_home(call->kind(), was)->json_text(), of.by.now_seconds);
  const auto& kind = scale_kind();
  auto applied = api::apply_fields(kind, api::encode_json(scale, kind.api_version(), kind.kind()),
                                   api::scale_managers(owners, path), of.json, of.by);
  if (!applied) return api::fail(std::move(applied.error()));
  if (applied->unchanged) return nothing_to_do(call, was);
  auto read = api::decode(applied->json, api::media::json, &kind, {});
  if (!read) return api::fail(std::move(read.error()));
  auto& wanted = *static_cast<api::autoscaling::v1::Scale&>(*read->content).mutable_spec();
  if (!has_count && !wanted.has_replicas()) wanted.set_replicas(api::no_replicas);
  auto made = propose_scale(call, was, *read->content);
  if (made)
    made->tracking = std::make_shared<const actors::field_tracking>(actors::field_tracking{
        .by = of.by,
        .applied = api::object_managers(owners, applied->managed, call->kind(), path)});
  return made;
}

}  // namespace

bool is_apply_patch(const call& call) {
  return call.request->headers.get("content-type").starts_with("application/apply-patch");
}

std::shared_ptr<const actors::field_tracking> tracking_of(const call& call) {
  return std::make_shared<const actors::field_tracking>(
      actors::field_tracking{.by = written_by(call, manager_of(call)), .applied = std::nullopt});
}

void apply_object(const call_ptr& call) {
  const auto options = parse_patch_options(call->request->query, true);
  if (!options) return call->fail(options.error());
  auto read = read_configuration(call, call->kind(), *options);
  if (!read) return call->fail(read.error());
  carry_out(call, options->dry_run,
            [call, of = std::make_shared<const configuration>(std::move(*read))](
                const snapshot& state) { return propose(call, state, *of); });
}

void apply_scale(const call_ptr& call) {
  const auto options = parse_patch_options(call->request->query, true);
  if (!options) return call->fail(options.error());
  auto read = read_configuration(call, scale_kind(), *options);
  if (!read) return call->fail(read.error());
  carry_out(
      call, options->dry_run,
      [call, of = std::make_shared<const configuration>(std::move(*read))](const snapshot& state) {
        return propose_applied_scale(call, state, *of);
      },
      [call](const write_result& result) { answer_scale(call, result.object); });
}

}  // namespace troupe::server
