#include "server/rest/reviews.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "api/codec.hpp"
#include "api/schema/authentication_v1.pb.h"
#include "api/schema/authorization_v1.pb.h"
#include "api/scheme.hpp"
#include "api/validation.hpp"
#include "server/authentication.hpp"
#include "server/authorization.hpp"

namespace troupe::server {
namespace {

using api::authentication::v1::SelfSubjectReview;
using api::authorization::v1::ResourceAttributes;
using api::authorization::v1::SelfSubjectAccessReview;
using api::authorization::v1::SelfSubjectAccessReviewSpec;
using api::authorization::v1::SelfSubjectRulesReview;

api::expected<void> review_self(const call& what, SelfSubjectReview& review) {
  auto& user = *review.mutable_status()->mutable_user_info();
  if (!what.what->user) return {};
  const auto& known = *what.what->user;
  user.set_username(known.name);
  if (!known.uid.empty()) user.set_uid(known.uid);
  for (const auto& group : known.groups)
    user.add_groups(group);
  for (const auto& [key, values] : known.extra)
    for (const auto& value : values)
      (*user.mutable_extra())[key].add_items(value);
  return {};
}

request_info info_of(const ResourceAttributes& asked) {
  request_info out;
  out.is_resource = true;
  out.verb = asked.verb();
  out.group = asked.group();
  out.version = asked.version();
  out.resource = asked.resource();
  out.subresource = asked.subresource();
  out.namespace_name = asked.namespace_();
  out.name = asked.name();
  return out;
}

request_info info_of(const SelfSubjectAccessReviewSpec& asked) {
  if (asked.has_resource_attributes()) return info_of(asked.resource_attributes());
  request_info out;
  out.path = asked.non_resource_attributes().path();
  out.verb = asked.non_resource_attributes().verb();
  return out;
}

api::expected<void> review_access(const call& what, SelfSubjectAccessReview& review) {
  const auto& spec = review.spec();
  if (spec.has_resource_attributes() == spec.has_non_resource_attributes())
    return api::fail(api::invalid(
        what.kind(), {},
        {{"FieldValueInvalid",
          "Invalid value: must specify either resourceAttributes or nonResourceAttributes, and not "
          "both",
          "spec"}}));
  auto& status = *review.mutable_status();
  const bool allowed = what.in.options.permissions == nullptr || !what.what->user ||
                       what.in.options.permissions->check(*what.what->user, info_of(spec));
  status.set_allowed(allowed);
  if (!allowed) status.set_reason("no rule allows it");
  return {};
}

// Administrators may do everything; what others may is decided request by request.
api::expected<void> review_rules(const call& what, SelfSubjectRulesReview& review) {
  if (review.spec().namespace_().empty())
    return api::fail(api::bad_request("no namespace on request"));
  auto& status = *review.mutable_status();
  const bool all = what.what->user && what.what->user->in_group(masters_group);
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

template <class T>
void answer_review(const call_ptr& what, api::body& content,
                   api::expected<void> (*review)(const call&, T&)) {
  if (auto done = review(*what, static_cast<T&>(content)); !done) return what->fail(done.error());
  what->answer(
      message_answer(what->form, 201, content, what->kind().api_version(), what->kind().kind()));
}

}  // namespace

bool is_review(const api::kind_info& kind) {
  return &kind == &api::kind_of<SelfSubjectReview>() ||
         &kind == &api::kind_of<SelfSubjectAccessReview>() ||
         &kind == &api::kind_of<SelfSubjectRulesReview>();
}

void create_review(const call_ptr& what) {
  const auto& kind = what->kind();
  const auto options = parse_write_options("CreateOptions", what->what->query);
  if (!options) return what->fail(options.error());
  const auto media = body_media(what->what->headers.get("content-type"));
  if (!media) return what->fail(media.error());
  auto read = api::decode(what->what->content, *media, &kind, {.fields = options->fields});
  if (!read) return what->fail(read.error());
  what->warn(read->warnings);
  if (&kind == &api::kind_of<SelfSubjectReview>()) {
    answer_review<SelfSubjectReview>(what, *read->content, &review_self);
  } else if (&kind == &api::kind_of<SelfSubjectAccessReview>()) {
    answer_review<SelfSubjectAccessReview>(what, *read->content, &review_access);
  } else {
    answer_review<SelfSubjectRulesReview>(what, *read->content, &review_rules);
  }
}

}  // namespace troupe::server
