#include "server/rest/writing.hpp"

#include <algorithm>
#include <random>

#include "actors/admission.hpp"
#include "actors/creation.hpp"
#include "api/defaults.hpp"
#include "api/equality.hpp"
#include "api/schema/coordination_v1.pb.h"
#include "api/schema/core_event.pb.h"
#include "api/schema/core_service.pb.h"
#include "api/scheme.hpp"
#include "api/strategy.hpp"
#include "api/validation.hpp"
#include "runtime/system.hpp"
#include "server/rest/patching.hpp"
#include "server/rest/service_addresses.hpp"

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

// The client decides the name of these by writing them (kubernetes: AllowCreateOnUpdate).
bool creatable_by_update(const api::kind_info& kind) {
  return &kind == &api::kind_of<api::coordination::v1::Lease>() ||
         &kind == &api::kind_of<api::core::v1::Endpoints>() ||
         &kind == &api::kind_of<api::core::v1::Event>();
}

api::expected<void> check_name(const call_ptr& what, api::body& content) {
  auto& meta = api::meta_of(content);
  if (meta.name().empty()) meta.set_name(std::string{what->where.name});
  if (meta.name() != what->where.name)
    return api::fail(api::bad_request("the name of the object (" + meta.name() +
                                      ") does not match the name on the URL (" +
                                      std::string{what->where.name} + ")"));
  return {};
}

// kubernetes: apiserver/pkg/registry/generic/registry, maxNameGenerationCreateAttempts.
constexpr int name_attempts = 8;

// The object of a request's body. It is decoded once, and again only where an attempt has used it
// up.
class body_source {
 public:
  body_source(const call_ptr& what, api::field_validation fields)
      : fields_{fields}, first_{read_body(what, what->kind(), fields)} {}

  const api::expected<std::unique_ptr<api::body>>& first() const noexcept { return first_; }
  api::expected<std::unique_ptr<api::body>> take(const call_ptr& what) {
    if (!std::exchange(taken_, true)) return std::move(first_);
    return read_body(what, what->kind(), fields_);
  }

 private:
  api::field_validation fields_;
  api::expected<std::unique_ptr<api::body>> first_;
  bool taken_ = false;
};

// A name that the server makes up may be taken: another one is tried.
api::expected<change_plan> plan_creation(const call_ptr& what, const snapshot& state,
                                         body_source& source) {
  for (int left = name_attempts;; --left) {
    auto content = source.take(what);
    if (!content) return api::fail(std::move(content.error()));
    const bool generated = api::meta_of(**content).name().empty();
    auto plan = server::plan_creation(what, state, std::move(*content));
    if (plan || !generated || left == 1 || plan.error().reason != "AlreadyExists") return plan;
  }
}

void prepare(const call_ptr& what, api::body& now, const api::body& was) {
  const auto& kind = what->kind();
  const auto part = what->where.subresource;
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

std::vector<api::error_cause> validate(const call_ptr& what, const api::body& now,
                                       const api::body& was) {
  const auto part = what->where.subresource;
  if (part == "status") return api::validate_status_update(what->kind(), now, was);
  if (part == "finalize") return {};
  if (part == "ephemeralcontainers") return api::validate_ephemeral_containers(now, was);
  return api::validate_update(what->kind(), now, was);
}

}  // namespace

std::int64_t wall_seconds(const rest_services& in) {
  const auto now = in.plane.company().time().wall_now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::seconds>(now).count();
}

api::expected<std::unique_ptr<api::body>> read_body(const call_ptr& what,
                                                    const api::kind_info& kind,
                                                    api::field_validation fields) {
  const auto media = body_media(what->what->headers.get("content-type"));
  if (!media) return api::fail(media.error());
  auto read = api::decode(what->what->content, *media, &kind, {.fields = fields});
  if (!read) return api::fail(std::move(read.error()));
  what->warn(read->warnings);
  if (auto settled = api::settle_namespace(kind, *read->content, what->where.space); !settled)
    return api::fail(std::move(settled.error()));
  // kubernetes: apiserver/pkg/endpoints/handlers, checkName.
  if (what->wanted == verb::update && api::meta_of(*read->content).name().empty())
    return api::fail(api::bad_request("the name of the object (" + std::string{what->where.name} +
                                      " based on URL) was undeterminable: name must be provided"));
  if (!what->where.name.empty())
    if (auto named = check_name(what, *read->content); !named)
      return api::fail(std::move(named.error()));
  return std::move(read->content);
}

api::expected<change_plan> plan_creation(const call_ptr& what, const snapshot& state,
                                         std::unique_ptr<api::body> content) {
  const auto& kind = what->kind();
  auto made =
      actors::create_transaction(state, kind, std::move(content), actors::checks::all,
                                 what->in.plane.company().time().wall_now(), random_source());
  if (!made) return api::fail(std::move(made.error()));
  if (const auto found = state.find(made->preconditions.front().key))
    return api::fail(api::already_exists(kind, found->meta().name()));
  change_plan plan{std::move(*made), nullptr, nullptr, 201};
  if (&kind == &api::kind_of<Service>())
    if (auto given = what->in.addresses.assign(state, nullptr, plan.what); !given)
      return api::fail(std::move(given.error()));
  return plan;
}

api::expected<change_plan> plan_replacement(const call_ptr& what, const snapshot& state,
                                            const api::object_ptr& was,
                                            std::unique_ptr<api::body> now) {
  const auto& kind = what->kind();
  if (auto named = check_name(what, *now); !named) return api::fail(std::move(named.error()));
  const auto demanded = api::precondition_of(*now);
  if (!demanded) return api::fail(demanded.error());
  if (auto fits = api::check_precondition(kind, *demanded, was->content(), was->revision()); !fits)
    return api::fail(std::move(fits.error()));
  api::set_defaults(kind, *now);
  prepare(what, *now, was->content());
  if (auto causes = validate(what, *now, was->content()); !causes.empty())
    return api::fail(api::invalid(kind, was->meta().name(), std::move(causes)));
  if (auto fine = actors::admit_write(state, kind, *now); !fine)
    return api::fail(std::move(fine.error()));

  change_plan plan{{}, was, nullptr, 200};
  auto key = what->key();
  if (api::ends_deletion(kind, *now, was->content())) {
    plan.what.preconditions.push_back({key, was->revision()});
    plan.what.mutations.push_back({std::move(key), &kind, nullptr});
    plan.shown = std::make_shared<const api::object>(kind, std::move(now), was->revision());
    return plan;
  }
  api::meta_of(*now).set_resource_version(was->meta().resource_version());
  const bool same = api::same_meaning(*now, was->content());
  if (same) return plan;
  plan.what.preconditions.push_back({key, was->revision()});
  plan.what.mutations.push_back({std::move(key), &kind, std::move(now)});
  if (&kind == &api::kind_of<Service>() && what->where.subresource.empty())
    if (auto given = what->in.addresses.assign(state, &was->as<Service>(), plan.what); !given)
      return api::fail(std::move(given.error()));
  return plan;
}

void create_object(const call_ptr& what) {
  const auto options = parse_write_options("CreateOptions", what->what->query);
  if (!options) return what->fail(options.error());
  const auto source = std::make_shared<body_source>(what, options->fields);
  if (!source->first()) return what->fail(source->first().error());
  if (!api::meta_of(**source->first()).resource_version().empty())
    return what->fail(
        api::bad_request("resourceVersion should not be set on objects to be created"));
  carry_out(what, options->dry_run,
            [what, source](const snapshot& state) { return plan_creation(what, state, *source); });
}

void update_object(const call_ptr& what) {
  const auto options = parse_write_options("UpdateOptions", what->what->query);
  if (!options) return what->fail(options.error());
  const auto source = std::make_shared<body_source>(what, options->fields);
  if (!source->first()) return what->fail(source->first().error());
  carry_out(what, options->dry_run,
            [what, source](const snapshot& state) -> api::expected<change_plan> {
              const auto was = state.find(what->key());
              if (!was && what->where.subresource.empty() && creatable_by_update(what->kind()))
                return plan_creation(what, state, *source);
              if (!was) return api::fail(api::not_found(what->kind(), what->where.name));
              auto now = source->take(what);
              if (!now) return api::fail(std::move(now.error()));
              return plan_replacement(what, state, was, std::move(*now));
            });
}

void patch_object(const call_ptr& what) {
  const auto options = parse_write_options("PatchOptions", what->what->query);
  if (!options) return what->fail(options.error());
  const auto change = patch::from(what->what);
  if (!change) return what->fail(change.error());
  carry_out(what, options->dry_run,
            [what, change = *change,
             fields = options->fields](const snapshot& state) -> api::expected<change_plan> {
              const auto was = state.find(what->key());
              if (!was) return api::fail(api::not_found(what->kind(), what->where.name));
              auto text = change.apply(*what, *was->json_text(), what->kind().type(), fields);
              if (!text) return api::fail(std::move(text.error()));
              auto now = api::decode(*text, api::media::json, &what->kind(), {.fields = fields});
              if (!now) return api::fail(std::move(now.error()));
              what->warn(now->warnings);
              return plan_replacement(what, state, was, std::move(now->content));
            });
}

}  // namespace troupe::server
