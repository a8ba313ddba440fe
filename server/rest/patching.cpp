#include "server/rest/patching.hpp"

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

}  // namespace troupe::server
