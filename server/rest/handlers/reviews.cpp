#include "server/rest/handlers/reviews.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "api/codec/codec.hpp"
#include "api/schema/authentication_v1.pb.h"
#include "api/schema/authorization_v1.pb.h"
#include "api/schema/meta_object.pb.h"
#include "api/strategy/strategy.hpp"
#include "api/validation/field_errors.hpp"
#include "api/values/syntax.hpp"
#include "server/access/authentication.hpp"
#include "server/access/authorization.hpp"
#include "server/rest/handlers/reading.hpp"
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
using api::meta::v1::FieldSelectorRequirement;
using api::meta::v1::LabelSelectorRequirement;
using api::meta::v1::ObjectMeta;

api::expected<void> review_self(const call& call, SelfSubjectReview& review) {
  review.Clear();
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

template <class Requirement>
void check_requirement(api::field_errors& out, const Requirement& one) {
  const auto& op = one.operator_();
  if ((op == "In" || op == "NotIn") && one.values().empty())
    out.required("values", "must be specified when `operator` is 'In' or 'NotIn'");
  if ((op == "Exists" || op == "DoesNotExist") && !one.values().empty())
    out.forbidden("values", "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
}

void check_terms(api::field_errors& out, const FieldSelectorRequirement& one) {
  if (one.key().empty()) out.required("key", "must be specified");
  check_requirement(out, one);
}

void check_terms(api::field_errors& out, const LabelSelectorRequirement& one) {
  check_requirement(out, one);
  out.each("key", one.key(), api::check_qualified_name(one.key()));
  for (int i = 0; i < one.values_size(); ++i) {
    const auto step = out.at.item("values", i);
    out.each({}, one.values(i), api::check_label_value(one.values(i)));
  }
}

template <class Selector>
void check_selector(api::field_errors& out, std::string_view field, const Selector& selector) {
  const auto step = out.at.field(field);
  const bool raw = !selector.raw_selector().empty();
  const bool terms = selector.requirements_size() > 0;
  if (raw && terms)
    out.invalid("rawSelector", selector.raw_selector(),
                "may not specified at the same time as requirements");
  if (!raw && !terms)
    out.required("requirements",
                 "when " + out.at.str() + " is specified, requirements or rawSelector is required");
  for (int i = 0; i < selector.requirements_size(); ++i) {
    const auto item = out.at.item("requirements", i);
    check_terms(out, selector.requirements(i));
  }
}

void check_selectors(api::field_errors& out, const ResourceAttributes& attributes) {
  const auto step = out.at.field("resourceAttributes");
  if (attributes.has_field_selector())
    check_selector(out, "fieldSelector", attributes.field_selector());
  if (attributes.has_label_selector())
    check_selector(out, "labelSelector", attributes.label_selector());
}

// A review has no metadata but the namespace of a local one.
void check_no_metadata(api::field_errors& out, ObjectMeta meta, std::string_view reason) {
  meta.clear_managed_fields();
  if (meta.ByteSizeLong() > 0) out.invalid_json("metadata", api::encode_json(meta, {}, {}), reason);
}

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
  if (spec.has_resource_attributes()) check_selectors(out, spec.resource_attributes());
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
  status.Clear();
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
  check_no_metadata(found, review.metadata(), "must be empty");
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
  check_no_metadata(found, review.metadata(), "must be empty");
  if (auto fine = finish(call, found); !fine) return fine;
  evaluate(call, subject_of(review.spec()), info_of(review.spec()), *review.mutable_status());
  return {};
}

// Only about the namespace of the request, for which the client is authorized.
api::expected<void> review_local_access(const call& call, LocalSubjectAccessReview& review) {
  const std::string ns{call.route.ns};
  const auto& spec = review.spec();
  api::field_errors found;
  {
    const auto step = found.at.field("spec");
    check_spec(found, spec);
  }
  auto meta = review.metadata();
  meta.clear_namespace_();
  check_no_metadata(found, std::move(meta), "must be empty except for namespace");
  {
    const auto step = found.at.field("spec");
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
  const auto ns = review.spec().namespace_();
  if (ns.empty()) return api::fail(api::bad_request("no namespace on request"));
  // Upstream returns a new object, with nothing but the status.
  review.Clear();
  review.mutable_spec();
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

// Another control plane may just have made the account, or the object that the token is bound to.
//
// kubernetes: pkg/controller/serviceaccount/tokengetter.go.
bool may_be_known_elsewhere(const call& call, const api::body& content) {
  return content.GetDescriptor() == TokenReview::descriptor() &&
         !static_cast<const TokenReview&>(content).status().authenticated() &&
         call.services.plane.store().is_shared();
}

void answer_review(const call_ptr& call, bool is_newest) {
  const auto& kind = call->kind();
  const auto options = parse_write_options("CreateOptions", call->request->query);
  if (!options) return call->fail(options.error());
  const auto media = body_media(call->request->headers.get("content-type"));
  if (!media) return call->fail(media.error());
  auto read = api::decode(call->request->content, *media, &kind, {.fields = options->fields});
  if (!read) return call->fail(read.error());
  call->warn(read->warnings);
  if (auto settled = api::settle_namespace(kind, *read->content, call->route.ns); !settled)
    return call->fail(settled.error());
  if (auto done = find_reviewer(kind)->review(*call, *read->content); !done)
    return call->fail(done.error());
  if (!is_newest && may_be_known_elsewhere(*call, *read->content))
    return at_newest(call, [](const call_ptr& again) { answer_review(again, true); });
  call->answer(message_answer(call->form, 201, *read->content, kind.api_version(), kind.kind()));
}

}  // namespace

bool is_review(const api::kind_info& kind) {
  return find_reviewer(kind) != nullptr;
}

void create_review(const call_ptr& call) {
  answer_review(call, false);
}

}  // namespace troupe::server
