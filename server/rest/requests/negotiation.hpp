// In which form a client wants its answer and in which it sent its body. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "api/codec/codec.hpp"
#include "api/error.hpp"

namespace troupe::server {

// The form of an object that the client wants.
enum class shape : std::uint8_t { object, table, metadata };

struct wanted_form {
  api::media media = api::media::json;
  shape as = shape::object;
  // Version of meta.k8s.io that a table or metadata are in: v1beta1 where false.
  bool v1 = true;
  bool pretty = false;

  bool operator==(const wanted_form&) const = default;
};

// The properties of the request that bound the forms.
struct asked_for {
  bool watching = false;  // no YAML
  bool custom = false;    // of a kind that has no protobuf
  bool readable = true;   // else an order, a review: no table
};

// kubernetes: apiserver/pkg/endpoints/handlers/negotiation. The best clause that we know, by its q
// and then by its place; JSON where the header is empty. 406 where there is none. Tables are JSON
// only.
api::expected<wanted_form> negotiate(std::string_view accept, const asked_for& of = {});

// Which aggregated discovery document the client prefers to the plain one: "v2", "v2beta1", or
// empty.
std::string_view negotiate_discovery(std::string_view accept);

// The content-type header of an answer in that form.
std::string content_type_of(const wanted_form& form, bool watching);

// The form of a body that is no patch; JSON where the header is empty. 415 for others.
api::expected<api::media> body_media(std::string_view content_type, bool custom = false);

// "application/json" of "Application/JSON; charset=utf-8".
std::string media_type(std::string_view header);

}  // namespace troupe::server
