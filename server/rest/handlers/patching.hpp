// The body of a PATCH, parsed so that it can be applied to several states.
#pragma once

#include <memory>
#include <string_view>
#include <utility>

#include "api/error.hpp"
#include "api/fwd.hpp"
#include "api/patch/patch.hpp"
#include "server/http/http.hpp"
#include "server/rest/calls/call.hpp"

namespace troupe::server {

class patch {
 public:
  // 415 for a content type that is not a patch's, and for a strategic patch of a custom kind or of
  // its parts.
  static api::expected<patch> from(const call& call);

  // Applies the patch to `json`, an object of the kind, and decodes the result. Unknown and
  // duplicate fields of the patch and of the result are handled as `fields` says.
  api::expected<std::unique_ptr<api::body>> apply(call& call, std::string_view json,
                                                  const api::kind_info& kind,
                                                  api::field_validation fields) const;

 private:
  patch(api::patch_form form, request_ptr request) : form_{form}, request_{std::move(request)} {}

  api::patch_form form_;
  request_ptr request_;
};

}  // namespace troupe::server
