#include "server/rest/patching.hpp"

#include <fmt/format.h>

#include <vector>

namespace troupe::server {
namespace {

// 415 is what clients take for "this server cannot do that".
api::error no_server_side_apply() {
  api::error out;
  out.code = 415;
  out.reason = "UnsupportedMediaType";
  out.message =
      "server-side apply is not supported by this server: apply without --server-side, or send a "
      "patch as application/strategic-merge-patch+json, application/merge-patch+json or "
      "application/json-patch+json";
  return out;
}

}  // namespace

api::expected<patch> patch::from(request_ptr what) {
  const auto given = what->headers.get("content-type");
  if (given.starts_with("application/apply-patch")) return api::fail(no_server_side_apply());
  const auto form = api::patch_form_of(given);
  if (!form)
    return api::fail(
        api::unsupported_media_type(given,
                                    "application/json-patch+json, application/merge-patch+json, "
                                    "application/strategic-merge-patch+json"));
  return patch{*form, std::move(what)};
}

api::expected<std::string> patch::apply(call& what, std::string_view json,
                                        const google::protobuf::Descriptor& type,
                                        api::field_validation fields) const {
  std::vector<std::string> repeated;
  const bool told = fields != api::field_validation::ignore;
  auto out = api::apply_patch(form_, type, json, what_->content, told ? &repeated : nullptr);
  if (!out || repeated.empty()) return out;
  if (fields == api::field_validation::strict)
    return api::fail(api::bad_request(
        fmt::format("error decoding patch: strict decoding error: {}", fmt::join(repeated, ", "))));
  what.warn(repeated);
  return out;
}

}  // namespace troupe::server
