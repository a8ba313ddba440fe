#include "server/rest/patching.hpp"

namespace troupe::server {

api::expected<patch> patch::from(request_ptr what) {
  const auto given = what->headers.get("content-type");
  const auto form = api::patch_form_of(given);
  if (!form)
    return api::fail(
        api::unsupported_media_type(given,
                                    "application/json-patch+json, application/merge-patch+json, "
                                    "application/strategic-merge-patch+json"));
  return patch{*form, std::move(what)};
}

}  // namespace troupe::server
