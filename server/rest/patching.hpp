// The body of a PATCH: a change of a document, ready to be applied to one state after another.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "api/error.hpp"
#include "api/fwd.hpp"
#include "api/patch.hpp"
#include "server/http.hpp"
#include "server/rest/call.hpp"

namespace troupe::server {

class patch {
 public:
  // 415 for a content type that is no patch's.
  static api::expected<patch> from(request_ptr what);

  // `json` changed; the result is not decoded yet. What the patch says twice is dealt with as
  // `fields` asks.
  api::expected<std::string> apply(call& what, std::string_view json,
                                   const google::protobuf::Descriptor& type,
                                   api::field_validation fields) const;

 private:
  patch(api::patch_form form, request_ptr what) : form_{form}, what_{std::move(what)} {}

  api::patch_form form_;
  request_ptr what_;
};

}  // namespace troupe::server
