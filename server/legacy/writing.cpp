#include "server/rest/handlers/writing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "actors/control_plane/control_plane.hpp"
#include "api/conversion/conversion.hpp"
#include "api/kind_row.hpp"
#include "api/schema/core_pod.pb.h"
#include "api/schema/meta_request.pb.h"
#include "api/scheme.hpp"
#include "api/v1beta1/objects.pb.h"
#include "api/v1beta1/pod.pb.h"
#include "api/v1beta1/v1beta1.hpp"
#include "api/values/syntax.hpp"
#include "api/values/uid.hpp"
#include "config/units.hpp"
#include "server/legacy/defaults.hpp"
#include "server/legacy/operations.hpp"
#include "server/legacy/verbs.hpp"
#include "server/rest/handlers/deleting.hpp"

namespace troupe::server::legacy {
namespace {

using api::v1beta1::type_meta;
using persistence::snapshot;
namespace shapes = api::v1beta1;

runtime::duration wait_of(const request& request) {
  if (request.query.get_or("sync", "") != "true") return defaults::async_wait;
  const auto timeout = config::parse_duration(request.query.get_or("timeout", ""));
  if (!timeout) return defaults::sync_wait;
  return std::clamp<runtime::duration>(*timeout, runtime::duration{0}, defaults::longest_wait);
}

std::mt19937_64& random_source() {
  thread_local std::mt19937_64 engine{std::random_device{}()};
  return engine;
}

// JSON and YAML were accepted everywhere (upstream: conversion, Decode).
api::expected<std::unique_ptr<api::body>> read(const legacy_call& call) {
  const auto& text = call.request->content;
  const auto first = text.find_first_not_of(" \t\r\n");
  const bool json = first != std::string::npos && text[first] == '{';
  auto made = api::conversions::instance().decode(text, json ? api::media::json : api::media::yaml,
                                                  call.at.shape);
  if (!made) return api::fail(std::move(made.error()));
  return std::move(made->content);
}

// Clears fields that only the server sets.
void drop_state(api::body& content) {
  auto& meta = type_meta(content);
  meta.clear_self_link();
  meta.clear_creation_timestamp();
  meta.clear_resource_version();
  if (content.GetDescriptor() == shapes::Pod::descriptor())
    static_cast<shapes::Pod&>(content).clear_current_state();
  if (content.GetDescriptor() == shapes::ReplicationController::descriptor())
    static_cast<shapes::ReplicationController&>(content).clear_current_state();
}

api::expected<void> settle_space(const place& at, api::body& content) {
  auto& meta = type_meta(content);
  if (!at.hub->namespaced()) {
    meta.clear_namespace_();
    return {};
  }
  if (!meta.namespace_().empty() && meta.namespace_() != at.ns)
    return api::fail(api::bad_request(
        fmt::format("the namespace of the object ({}) does not match the namespace on the request "
                    "({})",
                    meta.namespace_(), at.ns)));
  meta.set_namespace_(at.ns);
  return {};
}

// Clients of 2014 do not escape an id in a path: letters, digits and these (RFC 3986, pchar).
constexpr std::string_view id_marks = "-._~!$&'()*+,;=:@";

bool path_holds(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         id_marks.find(c) != id_marks.npos;
}

// upstream: pkg/api/validation, for services.
api::expected<void> check_id(const place& at, const std::string& id) {
  api::error_messages wrong;
  if (!std::all_of(id.begin(), id.end(), path_holds) || id == "." || id == "..")
    wrong.push_back(
        fmt::format("may hold letters, digits and {} only, and be neither . nor ..", id_marks));
  if (at.hub->row().name == api::DNS_1035_LABEL) {
    if (wrong.empty()) wrong = api::check_dns_1035_label(id);
    if (id.size() > defaults::service_id_size)
      wrong.push_back(fmt::format("must be no more than {} characters", defaults::service_id_size));
  }
  if (wrong.empty()) return {};
  std::vector<api::error_cause> causes;
  for (const auto& each : wrong)
    causes.push_back(
        {"FieldValueInvalid", fmt::format("Invalid value: \"{}\": {}", id, each), "id"});
  auto refused = api::invalid(*at.hub, shapes::name_of(id), std::move(causes));
  return api::fail(to_legacy_error(std::move(refused), *at.shape, id));
}

// Completes the object as upstream did: an object without an id gets one (except a service, whose
// id is its name in the network), and a pod awaits its minion.
api::expected<std::unique_ptr<api::body>> read_new(const legacy_call& call, std::string& id) {
  auto made = read(call);
  if (!made) return made;
  auto& content = **made;
  drop_state(content);
  auto& meta = type_meta(content);
  meta.clear_uid();
  if (meta.id().empty() && content.GetDescriptor() != shapes::Service::descriptor())
    meta.set_id(api::generated_uid(random_source()));
  id = meta.id();
  if (auto checked = check_id(call.at, id); !checked) return api::fail(checked.error());
  if (content.GetDescriptor() == shapes::Pod::descriptor())
    static_cast<shapes::Pod&>(content).mutable_desired_state()->clear_host();
  api::conversions::instance().set_defaults(content);
  if (auto settled = settle_space(call.at, content); !settled) return api::fail(settled.error());
  return shapes::to_hub(content);
}

// A client that reads an object and sends it back without a member that responses always have does
// not know it: the namespace before v0.4, the uid before v0.6. A manifest does not tell.
shapes::client_version version_of(const legacy_call& call, const api::body& body) {
  const auto& meta = type_meta(body);
  const bool read = !meta.self_link().empty();
  const bool spaceless = call.at.hub->namespaced() && meta.namespace_().empty();
  if (call.words == dialect::v0_2 || (read && spaceless)) return shapes::client_version::v0_2;
  return read && meta.uid().empty() ? shapes::client_version::v0_4 : shapes::client_version::v0_6;
}

// Executes the write as an operation, and reports its result. `about`: the object's id.
void carry_out_as_operation(const legacy_call_ptr& call, const std::string& about, proposer propose,
                            bool shows_object) {
  const auto id = call->pending.begin(call, wait_of(*call->request));
  if (id == 0) return;
  carry_out(
      call->today(), false, std::move(propose),
      [call, id, shows_object](const write_result& result) {
        call->run([call, id, object = shows_object ? result.object : nullptr] {
          call->pending.finish(id, {200, object ? object_json(*object, *call->at.shape)
                                                : success_json(call->words)});
        });
      },
      [call, id, about](const api::error& error) {
        call->run([call, id, told = to_legacy_error(error, *call->at.shape, about)] {
          call->pending.finish(id, {told.code, failure_json(told, call->words)});
        });
      });
}

}  // namespace

void create_object(const legacy_call_ptr& call) {
  std::string id;
  auto content = read_new(*call, id);
  if (!content) return call->fail(content.error());
  const std::shared_ptr<const api::body> manifest = std::move(*content);
  carry_out_as_operation(
      call, id,
      [call, manifest](const snapshot&) {
        std::unique_ptr<api::body> copy(manifest->New());
        copy->CopyFrom(*manifest);
        return propose_creation(call->today(), std::move(copy));
      },
      true);
}

void update_object(const legacy_call_ptr& call) {
  auto content = read(*call);
  if (!content) return call->fail(content.error());
  const auto revision = type_meta(**content).resource_version();
  const auto by = version_of(*call, **content);
  drop_state(**content);
  if (type_meta(**content).id().empty()) type_meta(**content).set_id(call->at.id);
  if (type_meta(**content).id() != call->at.id)
    return call->fail(
        api::bad_request(fmt::format("the id of the object ({}) does not match the "
                                     "id on the URL ({})",
                                     type_meta(**content).id(), call->at.id)));
  if (auto settled = settle_space(call->at, **content); !settled)
    return call->fail(settled.error());
  const std::shared_ptr<const api::body> manifest = std::move(*content);
  carry_out_as_operation(
      call, call->at.id,
      [call, manifest, revision, by](const snapshot& state) -> api::expected<proposal> {
        const auto was = state.find(call->key());
        if (!was) return api::fail(api::not_found(*call->at.hub, call->at.id));
        std::unique_ptr<api::body> external(manifest->New());
        external->CopyFrom(*manifest);
        shapes::fill_from(*external, *shapes::from_hub(was->content(), *call->at.shape), by);
        auto made = shapes::to_hub(*external, &was->content());
        auto& meta = api::meta_of(*made);
        meta.clear_resource_version();
        if (revision > 0) meta.set_resource_version(std::to_string(revision));
        return propose_replacement(call->today(), was, std::move(made));
      },
      true);
}

// As in 2014: the object is removed at once; dependents are orphaned if that is the kind's default.
void delete_object(const legacy_call_ptr& call) {
  auto options = std::make_shared<api::meta::v1::DeleteOptions>();
  options->set_grace_period_seconds(0);
  if (const auto& usual = call->at.hub->options().default_propagation(); !usual.empty())
    options->set_propagation_policy(usual);
  carry_out_as_operation(
      call, call->at.id,
      [call, options](const snapshot& state) {
        return propose_removal(call->today(), state, call->key(), call->at.id, *options);
      },
      false);
}

void create_binding(const legacy_call_ptr& call) {
  auto content = read(*call);
  if (!content) return call->fail(content.error());
  const auto& binding = static_cast<const shapes::Binding&>(**content);
  const auto& pods = api::kind_of<api::core::v1::Pod>();
  actors::bind order{.pod_key = pods.key(call->at.ns, shapes::name_of(binding.pod_id())),
                     .pod_uid = {},
                     .node = binding.host()};
  order.cause = call->today()->cause();
  const auto id = call->pending.begin(call, wait_of(*call->request));
  if (id == 0) return;
  call->services.plane.bind(
      std::move(order), call->request->id,
      [call, id](const api::expected<api::object_ptr>& result) {
        call->run([call, id, result] {
          if (result) return call->pending.finish(id, {200, success_json(call->words)});
          // The error is about the pod, not about a binding.
          const auto& pod = *api::conversions::instance().find_resource("v1beta1", "pods");
          const auto failure = to_legacy_error(result.error(), pod, result.error().name);
          call->pending.finish(id, {failure.code, failure_json(failure, call->words)});
        });
      });
}

}  // namespace troupe::server::legacy
