#include "server/rest/handlers/reviews.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "api/codec/codec.hpp"
#include "api/schema/authentication_v1.pb.h"
#include "api/schema/authorization_v1.pb.h"
#include "api/validation/validation.hpp"
#include "server/access/authentication.hpp"
#include "server/access/authorization.hpp"
#include "server/rest/handlers/tokens.hpp"

namespace troupe::server {
namespace {

using api::authentication::v1::SelfSubjectReview;
using api::authentication::v1::TokenReview;
using api::authorization::v1::ResourceAttributes;
using api::authorization::v1::SelfSubjectAccessReview;
using api::authorization::v1::SelfSubjectAccessReviewSpec;
using api::authorization::v1::SelfSubjectRulesReview;

api::expected<void> review_self(const call& call, SelfSubjectReview& review) {
  auto& user = *review.mutable_status()->mutable_user_info();
  if (!call.request->user) return {};
  const auto& known = *call.request->user;
  user.set_username(known.name);
  if (!known.uid.empty()) user.set_uid(known.uid);
  for (const auto& group : known.groups)
    user.add_groups(group);
  for (const auto& [key, values] : known.extra)
    for (const auto& value : values)
      (*user.mutable_extra())[key].add_items(value);
  return {};
}

request_info info_of(const ResourceAttributes& attributes) {
  request_info out;
  out.is_resource = true;
  out.verb = attributes.verb();
  out.group = attributes.group();
  out.version = attributes.version();
  out.resource = attributes.resource();
  out.subresource = attributes.subresource();
  out.namespace_name = attributes.namespace_();
  out.name = attributes.name();
  return out;
}

request_info info_of(const SelfSubjectAccessReviewSpec& attributes) {
  if (attributes.has_resource_attributes()) return info_of(attributes.resource_attributes());
  request_info out;
  out.path = attributes.non_resource_attributes().path();
  out.verb = attributes.non_resource_attributes().verb();
  return out;
}

api::expected<void> review_access(const call& call, SelfSubjectAccessReview& review) {
  const auto& spec = review.spec();
  if (spec.has_resource_attributes() == spec.has_non_resource_attributes())
    return api::fail(api::invalid(
        call.kind(), {},
        {{"FieldValueInvalid",
          "Invalid value: must specify either resourceAttributes or nonResourceAttributes, and not "
          "both",
          "spec"}}));
  auto& status = *review.mutable_status();
  const bool allowed = call.services.options.permissions == nullptr || !call.request->user ||
                       call.services.options.permissions->check(*call.request->user, info_of(spec));
  status.set_allowed(allowed);
  if (!allowed) status.set_reason("no rule allows it");
  return {};
}

// Administrators may do everything; what others may is decided request by request.
api::expected<void> review_rules(const call& call, SelfSubjectRulesReview& review) {
  if (review.spec().namespace_().empty())
    return api::fail(api::bad_request("no namespace on request"));
  auto& status = *review.mutable_status();
  const bool all = call.request->user && call.request->user->in_group(masters_group);
  status.set_incomplete(!all);
  auto& paths = *status.add_non_resource_rules();
  if (!all) {
    paths.add_verbs("get");
    for (const char* path : {"/api", "/api/*", "/apis", "/apis/*", "/healthz", "/livez", "/openapi",
                             "/openapi/*", "/readyz", "/version"})
      paths.add_non_resource_ur_ls(path);
    return {};
  }
  paths.add_verbs("*");
  paths.add_non_resource_ur_ls("*");
  auto& objects = *status.add_resource_rules();
  objects.add_verbs("*");
  objects.add_api_groups("*");
  objects.add_resources("*");
  return {};
}

struct reviewer {
  const google::protobuf::Descriptor* type;
  api::expected<void> (*review)(const call& call, api::body& content);
};

template <class T, api::expected<void> (*Review)(const call&, T&)>
reviewer make_reviewer() {
  return {T::descriptor(), [](const call& call, api::body& content) {
            return Review(call, static_cast<T&>(content));
          }};
}

const reviewer* find_reviewer(const api::kind_info& kind) {
  static const std::array all{make_reviewer<SelfSubjectReview, &review_self>(),
                              make_reviewer<SelfSubjectAccessReview, &review_access>(),
                              make_reviewer<SelfSubjectRulesReview, &review_rules>(),
                              make_reviewer<TokenReview, &review_token>()};
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const reviewer& each) { return each.type == &kind.type(); });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace

bool is_review(const api::kind_info& kind) {
  return find_reviewer(kind) != nullptr;
}

void create_review(const call_ptr& call) {
  const auto& kind = call->kind();
  const auto options = parse_write_options("CreateOptions", call->request->query);
  if (!options) return call->fail(options.error());
  const auto media = body_media(call->request->headers.get("content-type"));
  if (!media) return call->fail(media.error());
  auto read = api::decode(call->request->content, *media, &kind, {.fields = options->fields});
  if (!read) return call->fail(read.error());
  call->warn(read->warnings);
  if (auto done = find_reviewer(kind)->review(*call, *read->content); !done)
    return call->fail(done.error());
  call->answer(message_answer(call->form, 201, *read->content, kind.api_version(), kind.kind()));
}

}  // namespace troupe::server
