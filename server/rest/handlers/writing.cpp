#include "server/rest/handlers/writing.hpp"

#include <algorithm>
#include <random>

#include "actors/core/admission.hpp"
#include "actors/core/creation.hpp"
#include "api/equality.hpp"
#include "api/kind_row.hpp"
#include "api/schema/core_service.pb.h"
#include "api/scheme.hpp"
#include "api/strategy/defaults.hpp"
#include "api/strategy/strategy.hpp"
#include "api/validation/validation.hpp"
#include "runtime/actor_system.hpp"
#include "server/rest/calls/service_addresses.hpp"
#include "server/rest/handlers/patching.hpp"

namespace troupe::server {
namespace {

using api::core::v1::Service;
using persistence::snapshot;

std::mt19937_64& random_source() {
  thread_local std::mt19937_64 engine{[] {
    std::random_device seed;
    return static_cast<std::uint64_t>(seed()) << 32 | seed();
  }()};
  return engine;
}

api::expected<void> check_name(const call_ptr& call, api::body& content) {
  auto& meta = api::meta_of(content);
  if (meta.name().empty()) meta.set_name(std::string{call->route.name});
  if (meta.name() != call->route.name)
    return api::fail(api::bad_request("the name of the object (" + meta.name() +
                                      ") does not match the name on the URL (" +
                                      std::string{call->route.name} + ")"));
  return {};
}

// kubernetes: apiserver/pkg/registry/generic/registry, maxNameGenerationCreateAttempts.
constexpr int name_attempts = 8;

// The object of a request's body. It is decoded once, and again only where an attempt has used it
// up.
class body_source {
 public:
  body_source(const call_ptr& call, api::field_validation fields)
      : fields_{fields}, first_{read_body(call, call->kind(), fields)} {}

  const api::expected<std::unique_ptr<api::body>>& first() const noexcept { return first_; }
  api::expected<std::unique_ptr<api::body>> take(const call_ptr& call) {
    if (!std::exchange(taken_, true)) return std::move(first_);
    return read_body(call, call->kind(), fields_);
  }

 private:
  api::field_validation fields_;
  api::expected<std::unique_ptr<api::body>> first_;
  bool taken_ = false;
};

// A name that the server makes up may be taken: another one is tried.
api::expected<change_plan> plan_creation(const call_ptr& call, const snapshot& state,
                                         body_source& source) {
  for (int left = name_attempts;; --left) {
    auto content = source.take(call);
    if (!content) return api::fail(std::move(content.error()));
    const bool generated = api::meta_of(**content).name().empty();
    auto plan = server::plan_creation(call, state, std::move(*content));
    if (plan || !generated || left == 1 || plan.error().reason != "AlreadyExists") return plan;
  }
}

void prepare(const call_ptr& call, api::body& now, const api::body& was) {
  const auto& kind = call->kind();
  const auto part = call->route.subresource;
  if (part == "status")
    api::prepare_status_update(kind, now, was);
  else if (part == "finalize")
    api::prepare_finalize(now, was);
  else if (part == "ephemeralcontainers")
    api::prepare_ephemeral_containers(now, was);
  else
    api::prepare_update(kind, now, was);
  if (&kind == &api::kind_of<Service>() && part.empty())
    service_addresses::drop_leftovers(static_cast<Service&>(now), static_cast<const Service&>(was));
}

std::vector<api::error_cause> validate(const call_ptr& call, const api::body& now,
                                       const api::body& was) {
  const auto part = call->route.subresource;
  if (part == "status") return api::validate_status_update(call->kind(), now, was);
  if (part == "finalize") return {};
  if (part == "ephemeralcontainers") return api::validate_ephemeral_containers(now, was);
  return api::validate_update(call->kind(), now, was);
}

}  // namespace

std::int64_t wall_seconds(const rest_services& services) {
  const auto now = services.plane.system().time().wall_now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::seconds>(now).count();
}

api::expected<std::unique_ptr<api::body>> read_body(const call_ptr& call,
                                                    const api::kind_info& kind,
                                                    api::field_validation fields) {
  const auto media = body_media(call->request->headers.get("content-type"));
  if (!media) return api::fail(media.error());
  auto read = api::decode(call->request->content, *media, &kind, {.fields = fields});
  if (!read) return api::fail(std::move(read.error()));
  call->warn(read->warnings);
  if (auto settled = api::settle_namespace(kind, *read->content, call->route.ns); !settled)
    return api::fail(std::move(settled.error()));
  // kubernetes: apiserver/pkg/endpoints/handlers, checkName.
  if (call->verb == verb::update && api::meta_of(*read->content).name().empty())
    return api::fail(api::bad_request("the name of the object (" + std::string{call->route.name} +
                                      " based on URL) was undeterminable: name must be provided"));
  if (!call->route.name.empty())
    if (auto named = check_name(call, *read->content); !named)
      return api::fail(std::move(named.error()));
  return std::move(read->content);
}

api::expected<change_plan> plan_creation(const call_ptr& call, const snapshot& state,
                                         std::unique_ptr<api::body> content) {
  const auto& kind = call->kind();
  auto made =
      actors::create_transaction(state, kind, std::move(content), actors::checks::all,
                                 call->services.plane.system().time().wall_now(), random_source());
  if (!made) return api::fail(std::move(made.error()));
  if (const auto found = state.find(made->preconditions.front().key))
    return api::fail(api::already_exists(kind, found->meta().name()));
  change_plan plan{std::move(*made), nullptr, nullptr, 201};
  if (&kind == &api::kind_of<Service>())
    if (auto assigned = call->services.addresses.assign(state, nullptr, plan.transaction);
        !assigned)
      return api::fail(std::move(assigned.error()));
  return plan;
}

api::expected<change_plan> plan_replacement(const call_ptr& call, const snapshot& state,
                                            const api::object_ptr& was,
                                            std::unique_ptr<api::body> now) {
  const auto& kind = call->kind();
  if (auto named = check_name(call, *now); !named) return api::fail(std::move(named.error()));
  const auto demanded = api::precondition_of(*now);
  if (!demanded) return api::fail(demanded.error());
  if (auto fits = api::check_precondition(kind, *demanded, was->content(), was->revision()); !fits)
    return api::fail(std::move(fits.error()));
  api::set_defaults(kind, *now);
  prepare(call, *now, was->content());
  if (auto causes = validate(call, *now, was->content()); !causes.empty())
    return api::fail(api::invalid(kind, was->meta().name(), std::move(causes)));
  if (auto fine = actors::admit_write(state, kind, *now); !fine)
    return api::fail(std::move(fine.error()));

  change_plan plan{{}, was, nullptr, 200};
  auto key = call->key();
  if (api::ends_deletion(kind, *now, was->content())) {
    plan.transaction.preconditions.push_back({key, was->revision()});
    plan.transaction.mutations.push_back({std::move(key), &kind, nullptr});
    plan.shown = std::make_shared<const api::object>(kind, std::move(now), was->revision());
    return plan;
  }
  api::meta_of(*now).set_resource_version(was->meta().resource_version());
  const bool same = api::same_meaning(*now, was->content());
  if (same) return plan;
  plan.transaction.preconditions.push_back({key, was->revision()});
  plan.transaction.mutations.push_back({std::move(key), &kind, std::move(now)});
  if (&kind == &api::kind_of<Service>() && call->route.subresource.empty())
    if (auto assigned =
            call->services.addresses.assign(state, &was->as<Service>(), plan.transaction);
        !assigned)
      return api::fail(std::move(assigned.error()));
  return plan;
}

void create_object(const call_ptr& call) {
  const auto options = parse_write_options("CreateOptions", call->request->query);
  if (!options) return call->fail(options.error());
  const auto source = std::make_shared<body_source>(call, options->fields);
  if (!source->first()) return call->fail(source->first().error());
  if (!api::meta_of(**source->first()).resource_version().empty())
    return call->fail(
        api::bad_request("resourceVersion should not be set on objects to be created"));
  carry_out(call, options->dry_run,
            [call, source](const snapshot& state) { return plan_creation(call, state, *source); });
}

void update_object(const call_ptr& call) {
  const auto options = parse_write_options("UpdateOptions", call->request->query);
  if (!options) return call->fail(options.error());
  const auto source = std::make_shared<body_source>(call, options->fields);
  if (!source->first()) return call->fail(source->first().error());
  carry_out(call, options->dry_run,
            [call, source](const snapshot& state) -> api::expected<change_plan> {
              const auto was = state.find(call->key());
              if (!was && call->route.subresource.empty() && call->kind().row().created_by_update)
                return plan_creation(call, state, *source);
              if (!was) return api::fail(api::not_found(call->kind(), call->route.name));
              auto now = source->take(call);
              if (!now) return api::fail(std::move(now.error()));
              return plan_replacement(call, state, was, std::move(*now));
            });
}

void patch_object(const call_ptr& call) {
  const auto options = parse_write_options("PatchOptions", call->request->query);
  if (!options) return call->fail(options.error());
  const auto change = patch::from(call->request);
  if (!change) return call->fail(change.error());
  carry_out(call, options->dry_run,
            [call, change = *change,
             fields = options->fields](const snapshot& state) -> api::expected<change_plan> {
              const auto was = state.find(call->key());
              if (!was) return api::fail(api::not_found(call->kind(), call->route.name));
              auto text = change.apply(*call, *was->json_text(), call->kind().type(), fields);
              if (!text) return api::fail(std::move(text.error()));
              auto now = api::decode(*text, api::media::json, &call->kind(), {.fields = fields});
              if (!now) return api::fail(std::move(now.error()));
              call->warn(now->warnings);
              return plan_replacement(call, state, was, std::move(now->content));
            });
}

}  // namespace troupe::server
