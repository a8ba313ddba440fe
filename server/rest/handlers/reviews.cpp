#include "server/rest/handlers/reviews.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "api/codec/codec.hpp"
#include "api/schema/authentication_v1.pb.h"
#include "api/schema/authorization_v1.pb.h"
#include "api/validation/field_errors.hpp"
#include "server/access/authentication.hpp"
#include "server/access/authorization.hpp"
#include "server/rest/handlers/tokens.hpp"

namespace troupe::server {
namespace {

using api::authentication::v1::SelfSubjectReview;
using api::authentication::v1::TokenReview;
using api::authorization::v1::LocalSubjectAccessReview;
using api::authorization::v1::ResourceAttributes;
using api::authorization::v1::SelfSubjectAccessReview;
using api::authorization::v1::SelfSubjectRulesReview;
using api::authorization::v1::SubjectAccessReview;
using api::authorization::v1::SubjectAccessReviewSpec;
using api::authorization::v1::SubjectAccessReviewStatus;

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

template <class Spec>
request_info info_of(const Spec& spec) {
  if (spec.has_resource_attributes()) return info_of(spec.resource_attributes());
  request_info out;
  out.path = spec.non_resource_attributes().path();
  out.verb = spec.non_resource_attributes().verb();
  return out;
}

// -- permissions --------------------------------------------------------------------------------

// kubernetes: pkg/apis/authorization/validation.
template <class Spec>
void check_attributes(api::field_errors& out, const Spec& spec) {
  if (spec.has_resource_attributes() && spec.has_non_resource_attributes())
    out.invalid("nonResourceAttributes", spec.non_resource_attributes().path(),
                "cannot be specified in combination with resourceAttributes");
  if (!spec.has_resource_attributes() && !spec.has_non_resource_attributes())
    out.invalid_json(
        "resourceAttributes", "null",
        "exactly one of nonResourceAttributes or resourceAttributes must be specified");
}

void check_spec(api::field_errors& out, const SubjectAccessReviewSpec& spec) {
  check_attributes(out, spec);
  if (spec.user().empty() && spec.groups().empty())
    out.invalid("user", spec.user(), "at least one of user or group must be specified");
}

api::expected<void> finish(const call& call, api::field_errors& found) {
  if (found.empty()) return {};
  return api::fail(api::invalid(call.kind(), {}, found.take()));
}

void evaluate(const call& call, const user_info& user, const request_info& info,
              SubjectAccessReviewStatus& status) {
  const auto* permissions = call.services.options.permissions;
  if (permissions == nullptr) return status.set_allowed(true);
  auto evaluated = permissions->evaluate(user, info);
  status.set_allowed(evaluated.decided == decision::allow);
  if (evaluated.decided == decision::deny) status.set_denied(true);
  if (!evaluated.reason.empty()) status.set_reason(std::move(evaluated.reason));
}

// The client; without a filter in front it is anonymous and may do everything.
user_info caller(const call& call) {
  if (call.request->user) return *call.request->user;
  return {{}, {}, {std::string{masters_group}}};
}

api::expected<void> review_self_access(const call& call, SelfSubjectAccessReview& review) {
  api::field_errors found;
  {
    const auto step = found.at.field("spec");
    check_attributes(found, review.spec());
  }
  if (auto fine = finish(call, found); !fine) return fine;
  evaluate(call, caller(call), info_of(review.spec()), *review.mutable_status());
  return {};
}

user_info subject_of(const SubjectAccessReviewSpec& spec) {
  user_info user{spec.user(), spec.uid(), {spec.groups().begin(), spec.groups().end()}};
  for (const auto& [key, values] : spec.extra())
    user.extra[key] = {values.items().begin(), values.items().end()};
  return user;
}

api::expected<void> review_access(const call& call, SubjectAccessReview& review) {
  api::field_errors found;
  {
    const auto step = found.at.field("spec");
    check_spec(found, review.spec());
  }
  if (auto fine = finish(call, found); !fine) return fine;
  evaluate(call, subject_of(review.spec()), info_of(review.spec()), *review.mutable_status());
  return {};
}

// Only about the namespace of the request, for which the client is authorized.
api::expected<void> review_local_access(const call& call, LocalSubjectAccessReview& review) {
  const std::string ns{call.route.ns};
  if (!review.metadata().namespace_().empty() && review.metadata().namespace_() != ns)
    return api::fail(
        api::bad_request("spec.resourceAttributes.namespace must match namespace: " + ns));
  review.mutable_metadata()->set_namespace_(ns);
  const auto& spec = review.spec();
  api::field_errors found;
  {
    const auto step = found.at.field("spec");
    check_spec(found, spec);
    if (spec.has_non_resource_attributes())
      found.invalid("nonResourceAttributes", spec.non_resource_attributes().path(),
                    "disallowed on this kind of request");
    if (spec.has_resource_attributes() && spec.resource_attributes().namespace_() != ns)
      found.invalid("resourceAttributes.namespace", spec.resource_attributes().namespace_(),
                    "must match metadata.namespace");
  }
  if (auto fine = finish(call, found); !fine) return fine;
  evaluate(call, subject_of(spec), info_of(spec), *review.mutable_status());
  return {};
}

api::expected<void> review_rules(const call& call, SelfSubjectRulesReview& review) {
  const auto& ns = review.spec().namespace_();
  if (ns.empty()) return api::fail(api::bad_request("no namespace on request"));
  auto& status = *review.mutable_status();
  status.set_incomplete(false);
  static const authorization open{{}};
  const auto* permissions = call.services.options.permissions;
  (permissions != nullptr ? *permissions : open).list(caller(call), ns, status);
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
                              make_reviewer<SelfSubjectAccessReview, &review_self_access>(),
                              make_reviewer<SubjectAccessReview, &review_access>(),
                              make_reviewer<LocalSubjectAccessReview, &review_local_access>(),
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
