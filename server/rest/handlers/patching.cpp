#include "server/rest/handlers/patching.hpp"

#include <fmt/format.h>

#include <vector>

namespace troupe::server {

api::expected<patch> patch::from(request_ptr request) {
  const auto content_type = request->headers.get("content-type");
  const auto form = api::patch_form_of(content_type);
  if (!form)
    return api::fail(
        api::unsupported_media_type(content_type,
                                    "application/json-patch+json, application/merge-patch+json, "
                                    "application/strategic-merge-patch+json, "
                                    "application/apply-patch+yaml"));
  return patch{*form, std::move(request)};
}

api::expected<std::string> patch::apply(call& call, std::string_view json,
                                        const google::protobuf::Descriptor& type,
                                        api::field_validation fields) const {
  std::vector<std::string> repeated;
  const bool reports = fields != api::field_validation::ignore;
  auto out = api::apply_patch(form_, type, json, request_->content, reports ? &repeated : nullptr);
  if (!out || repeated.empty()) return out;
  if (fields == api::field_validation::strict)
    return api::fail(api::bad_request(
        fmt::format("error decoding patch: strict decoding error: {}", fmt::join(repeated, ", "))));
  call.warn(repeated);
  return out;
}

}  // namespace troupe::server
