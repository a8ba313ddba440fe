// The body of a PATCH: a change of a document, ready to be applied to one state after another.
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
  // 415 for a content type that is no patch's.
  static api::expected<patch> from(request_ptr request);

  // `json` changed; the result is not decoded yet. What the patch says twice is dealt with as
  // `fields` asks.
  api::expected<std::string> apply(call& call, std::string_view json,
                                   const google::protobuf::Descriptor& type,
                                   api::field_validation fields) const;

 private:
  patch(api::patch_form form, request_ptr request) : form_{form}, request_{std::move(request)} {}

  api::patch_form form_;
  request_ptr request_;
};

}  // namespace troupe::server
