#include "server/rest/handlers/patching.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "api/codec/codec.hpp"
#include "api/object/custom_body.hpp"
#include "api/version_rules.hpp"

namespace troupe::server {

api::expected<patch> patch::from(const call& call) {
  const auto& request = call.request;
  const auto content_type = request->headers.get("content-type");
  const auto form = api::patch_form_of(content_type);
  const bool custom = call.kind().custom();
  if (!form || (custom && form == api::patch_form::strategic))
    return api::fail(api::unsupported_media_type(
        content_type, custom ? "application/json-patch+json, application/merge-patch+json, "
                               "application/apply-patch+yaml"
                             : "application/json-patch+json, application/merge-patch+json, "
                               "application/strategic-merge-patch+json, "
                               "application/apply-patch+yaml"));
  return patch{*form, request};
}

// kubernetes: apiserver/pkg/endpoints/handlers/patch.go.
api::expected<std::unique_ptr<api::body>> patch::apply(call& call, std::string_view json,
                                                       const api::kind_info& kind,
                                                       api::field_validation fields) const {
  using api::field_validation;
  const bool reports = fields != field_validation::ignore;
  const auto collected = reports ? field_validation::warn : field_validation::ignore;
  std::vector<std::string> problems;
  const auto text =
      api::apply_patch(form_, kind.type(), json, request_->content, reports ? &problems : nullptr);
  if (!text) return api::fail(text.error());
  auto read = api::decode(*text, api::media::json, &kind, {.fields = collected});
  if (!read) return api::fail(std::move(read.error()));
  problems.insert(problems.end(), read->warnings.begin(), read->warnings.end());
  if (const auto* rules = kind.rules()) {
    const auto unknown = rules->complete(api::as_custom(*read->content), collected);
    if (!unknown) return api::fail(unknown.error());
    problems.insert(problems.end(), unknown->begin(), unknown->end());
  }
  if (fields == field_validation::strict && !problems.empty())
    return api::fail(
        api::bad_request(fmt::format("strict decoding error: {}", fmt::join(problems, ", "))));
  call.warn(problems);
  return std::move(read->content);
}

}  // namespace troupe::server
