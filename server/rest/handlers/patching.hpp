// The body of a PATCH, parsed so that it can be applied to several states.
#pragma once

#include <memory>
#include <string>
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
  // 415 for a content type that is not a patch's.
  static api::expected<patch> from(request_ptr request);

  // Applies the patch to `json`; the result is not decoded yet. Duplicate members of the patch are
  // handled as `fields` says.
  api::expected<std::string> apply(call& call, std::string_view json,
                                   const google::protobuf::Descriptor& type,
                                   api::field_validation fields) const;

 private:
  patch(api::patch_form form, request_ptr request) : form_{form}, request_{std::move(request)} {}

  api::patch_form form_;
  request_ptr request_;
};

}  // namespace troupe::server
