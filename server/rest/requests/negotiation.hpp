// Content negotiation: the form of the response, and that of the request's body. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "api/codec/codec.hpp"
#include "api/error.hpp"

namespace troupe::server {

// The requested form of an object.
enum class shape : std::uint8_t { object, table, metadata };

struct response_format {
  api::media media = api::media::json;
  shape as = shape::object;
  // The version of meta.k8s.io for a table or metadata: v1, or v1beta1.
  bool v1 = true;
  bool pretty = false;

  bool operator==(const response_format&) const = default;
};

// The properties of the request that restrict the forms.
struct asked_for {
  bool watching = false;  // no YAML
  bool custom = false;    // of a kind without protobuf
  bool readable = true;   // false for a command or a review: no table
};

// kubernetes: apiserver/pkg/endpoints/handlers/negotiation. Selects the supported clause with the
// highest q, then the first; JSON if the header is empty. 406 if none is supported. Tables are JSON
// only.
api::expected<response_format> negotiate(std::string_view accept, const asked_for& of = {});

// The aggregated discovery document that the client prefers to the plain one: "v2", "v2beta1", or
// empty.
std::string_view negotiate_discovery(std::string_view accept);

// The Content-Type header of a response in that form.
std::string content_type_of(const response_format& form, bool watching);

// The format of a body that is not a patch; JSON if the header is empty. 415 for others.
api::expected<api::media> body_media(std::string_view content_type, bool custom = false);

// "application/json" for "Application/JSON; charset=utf-8".
std::string media_type(std::string_view header);

}  // namespace troupe::server
