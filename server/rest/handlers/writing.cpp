#include "server/rest/handlers/writing.hpp"

#include <fmt/format.h>

#include <utility>

#include "api/conversion/shapes.hpp"
#include "api/kind_row.hpp"
#include "api/object/custom_body.hpp"
#include "api/schema/core_service.pb.h"
#include "api/scheme.hpp"
#include "api/strategy/strategy.hpp"
#include "api/validation/field_errors.hpp"
#include "api/validation/validation.hpp"
#include "api/version_rules.hpp"
#include "server/access/authorization.hpp"
#include "server/rest/handlers/applying.hpp"
#include "server/rest/handlers/patching.hpp"

namespace troupe::server {
namespace {

using persistence::snapshot;

// The decoded object of a request's body. It is decoded again only if an earlier attempt has
// consumed it.
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

actors::write_rules rules_of(std::string_view subresource) {
  using actors::write_rules;
  // The strategy decides which parts of the status each one may change.
  if (subresource == "status" || subresource == "approval") return write_rules::status;
  if (subresource == "finalize") return write_rules::finalize;
  if (subresource == "ephemeralcontainers") return write_rules::ephemeral_containers;
  if (subresource == "resize") return write_rules::pod_resize;
  return write_rules::object;
}

// The write checks the rules of the storage version. If the client wrote another version, its rules
// are checked here.
api::expected<void> check_version(const call_ptr& call, const api::body& now,
                                  const api::body* was) {
  const auto& kind = call->kind();
  if (&api::home_of(kind) == &kind) return {};
  using part = api::version_rules::part;
  api::field_errors found;
  if (kind.rules() != nullptr)
    kind.rules()->check(found, api::as_custom(now),
                        was != nullptr ? &api::as_custom(*was) : nullptr,
                        call->route.subresource == "status" ? part::status : part::object);
  else if (const auto check = kind.row().check_create; check != nullptr && was == nullptr)
    check(found, now);
  if (found.empty()) return {};
  return api::fail(api::invalid(kind, api::meta_of(now).name(), found.take()));
}

// Warns about parts that are stored but have no effect.
void warn_of_kind(const call_ptr& call) {
  if (const auto* rules = call->kind().rules(); rules && rules->has_unchecked_rules())
    call->warn({call->kind().qualified_plural() +
                ": the rules in x-kubernetes-validations are stored, but this cluster does not "
                "enforce them yet"});
  const auto& warning = call->kind().row().warning;
  if (!warning.empty() && !call->services.options.enforced.contains(&call->kind()))
    call->warn({call->kind().qualified_plural() + " " + std::string{warning}});
}

}  // namespace

api::expected<void> check_name(const call_ptr& call, api::body& content,
                               std::string_view other_name) {
  auto& meta = api::meta_of(content);
  if (meta.name().empty()) meta.set_name(std::string{call->route.name});
  if (meta.name() == call->route.name) return {};
  if (!other_name.empty()) return api::fail(api::bad_request(std::string{other_name}));
  return api::fail(api::bad_request("the name of the object (" + meta.name() +
                                    ") does not match the name on the URL (" +
                                    std::string{call->route.name} + ")"));
}

// kubernetes: apiserver/pkg/endpoints/handlers/update.go.
api::expected<void> may_create(const call& call) {
  const auto* permissions = call.services.options.permissions;
  if (permissions == nullptr || !call.request->user) return {};
  auto info = call.request->info;
  info.verb = "create";
  return permissions->check(*call.request->user, info);
}

api::expected<void> complete_custom(const call_ptr& call, const api::kind_info& kind,
                                    api::body& content, api::field_validation fields) {
  if (kind.rules() == nullptr) return {};
  auto unknown = kind.rules()->complete(api::as_custom(content), fields);
  if (!unknown) return api::fail(std::move(unknown.error()));
  call->warn(*unknown);
  return {};
}

api::expected<std::unique_ptr<api::body>> read_body(const call_ptr& call,
                                                    const api::kind_info& kind,
                                                    api::field_validation fields,
                                                    const body_rules& rules) {
  const auto media = body_media(call->request->headers.get("content-type"), kind.custom());
  if (!media) return api::fail(media.error());
  // The fields that the schema of a custom kind does not know are reported with the others.
  const bool strict_custom = kind.rules() != nullptr && fields == api::field_validation::strict;
  const auto collected = strict_custom ? api::field_validation::warn : fields;
  auto read = api::decode(call->request->content, *media, &kind,
                          {.fields = collected, .also_version = rules.also_version});
  if (!read) return api::fail(std::move(read.error()));
  if (kind.rules() != nullptr) {
    const auto unknown = kind.rules()->complete(api::as_custom(*read->content), collected);
    if (!unknown) return api::fail(unknown.error());
    read->warnings.insert(read->warnings.end(), unknown->begin(), unknown->end());
  }
  if (strict_custom && !read->warnings.empty())
    return api::fail(api::bad_request(
        fmt::format("{0} in version \"{1}\" cannot be handled as a {0}: strict decoding error: {2}",
                    kind.kind(), kind.version(), fmt::join(read->warnings, ", "))));
  call->warn(read->warnings);
  if (auto settled = api::settle_namespace(kind, *read->content, call->route.ns); !settled)
    return api::fail(std::move(settled.error()));
  // kubernetes: apiserver/pkg/endpoints/handlers, checkName.
  if (call->verb == verb::update && api::meta_of(*read->content).name().empty())
    return api::fail(api::bad_request("the name of the object (" + std::string{call->route.name} +
                                      " based on URL) was undeterminable: name must be provided"));
  if (!call->route.name.empty())
    if (auto named = check_name(call, *read->content, rules.other_name); !named)
      return api::fail(std::move(named.error()));
  return std::move(read->content);
}

api::expected<proposal> propose_creation(const call_ptr& call, std::unique_ptr<api::body> content) {
  if (auto fine = check_version(call, *content, nullptr); !fine)
    return api::fail(std::move(fine.error()));
  if (call->kind().custom()) call->warn(api::finalizer_warnings(*content, nullptr));
  return proposal{.kind = &api::home_of(call->kind()),
                  .after = api::convert_to_home(call->kind(), std::move(content), nullptr)};
}

api::expected<proposal> propose_replacement(const call_ptr& call, const api::object_ptr& was,
                                            std::unique_ptr<api::body> now) {
  if (auto named = check_name(call, *now); !named) return api::fail(std::move(named.error()));
  const auto demanded = api::precondition_of(*now);
  if (!demanded) return api::fail(demanded.error());
  // kubernetes: apiserver/pkg/registry/rest/update.go.
  if (demanded->revision == 0 && call->verb == verb::update &&
      call->kind().row().updates_a_revision)
    return api::fail(
        api::invalid(call->kind(), call->route.name,
                     {{"FieldValueInvalid", "Invalid value: 0x0: must be specified for an update",
                       "metadata.resourceVersion"}}));
  if (auto fits = api::check_precondition(call->kind(), *demanded, was->content(), was->revision());
      !fits)
    return api::fail(std::move(fits.error()));
  if (auto fine = check_version(call, *now, &was->content()); !fine)
    return api::fail(std::move(fine.error()));
  if (call->kind().custom()) call->warn(api::finalizer_warnings(*now, &was->content()));
  now = api::convert_to_home(call->kind(), std::move(now), &was->content());
  const bool tracked =
      !was->meta().managed_fields().empty() || !api::meta_of(*now).managed_fields().empty();
  return proposal{.kind = &api::home_of(call->kind()),
                  .op = actors::admission::operation::update,
                  .subresource = call->route.subresource,
                  .rules = rules_of(call->route.subresource),
                  .before = was,
                  .after = std::move(now),
                  .tracking = tracked ? tracking_of(*call) : nullptr};
}

void create_object(const call_ptr& call) {
  warn_of_kind(call);
  const auto options = parse_write_options("CreateOptions", call->request->query);
  if (!options) return call->fail(options.error());
  const auto source = std::make_shared<body_source>(call, options->fields);
  if (!source->first()) return call->fail(source->first().error());
  if (!api::meta_of(**source->first()).resource_version().empty())
    return call->fail(
        api::bad_request("resourceVersion should not be set on objects to be created"));
  carry_out(call, options->dry_run, [call, source](const snapshot&) -> api::expected<proposal> {
    auto content = source->take(call);
    if (!content) return api::fail(std::move(content.error()));
    return propose_creation(call, std::move(*content));
  });
}

void update_object(const call_ptr& call) {
  warn_of_kind(call);
  const auto options = parse_write_options("UpdateOptions", call->request->query);
  if (!options) return call->fail(options.error());
  const auto source = std::make_shared<body_source>(call, options->fields);
  if (!source->first()) return call->fail(source->first().error());
  carry_out(call, options->dry_run,
            [call, source](const snapshot& state) -> api::expected<proposal> {
              const auto was = state.find(call->key());
              const bool creates =
                  call->route.subresource.empty() && call->kind().row().created_by_update;
              if (!was && !creates)
                return api::fail(api::not_found(call->kind(), call->route.name));
              auto now = source->take(call);
              if (!now) return api::fail(std::move(now.error()));
              if (!was)
                if (auto may = may_create(*call); !may) return api::fail(std::move(may.error()));
              if (!was) return propose_creation(call, std::move(*now));
              return propose_replacement(call, was, std::move(*now));
            });
}

void patch_object(const call_ptr& call) {
  warn_of_kind(call);
  if (is_apply_patch(*call)) return apply_object(call);
  const auto options = parse_patch_options(call->request->query, false);
  if (!options) return call->fail(options.error());
  const auto change = patch::from(*call);
  if (!change) return call->fail(change.error());
  carry_out(call, options->dry_run,
            [call, change = *change,
             fields = options->fields](const snapshot& state) -> api::expected<proposal> {
              const auto was = state.find(call->key());
              if (!was) return api::fail(api::not_found(call->kind(), call->route.name));
              const auto shown = api::convert_from_home(call->kind(), was);
              auto now = change.apply(*call, *shown->json_text(), call->kind(), fields);
              if (!now) return api::fail(std::move(now.error()));
              return propose_replacement(call, was, std::move(*now));
            });
}

}  // namespace troupe::server
