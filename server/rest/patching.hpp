// The body of a PATCH: a change of a document, ready to be applied to one state after another.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "api/error.hpp"
#include "api/fwd.hpp"
#include "server/http.hpp"
#include "server/rest/negotiation.hpp"

namespace troupe::server {

class patch {
 public:
  patch(patch_type type, std::shared_ptr<const request> from) : type_{type}, from_{std::move(from)} {}

  // `json` changed; the result is not decoded yet. 422 for a patch that does not fit the document,
  // 400 for one that is none.
  api::expected<std::string> apply(std::string_view json,
                                   const google::protobuf::Descriptor& type) const;

 private:
  patch_type type_;
  std::shared_ptr<const request> from_;
};

// 415 for a content type that is no patch's.
api::expected<patch> read_patch(const request_ptr& what);

}  // namespace troupe::server
