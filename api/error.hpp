// The error of a request, with the fields of metav1.Status: an HTTP code, a
// CamelCase reason for programs, a message for people, and the causes with their
// field paths.
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "api/fwd.hpp"

namespace troupe::api {

// A problem of one field, e.g. {"FieldValueRequired", "Required value", "spec.replicas"}.
struct error_cause {
  std::string reason;
  std::string message;
  std::string field;
};

struct error {
  int code = 500;
  std::string reason = "InternalError";
  std::string message;
  // The object of the request; empty if there is no single one.
  std::string group;
  std::string kind;  // resource (plural) or kind, as upstream fills details.kind
  std::string name;
  std::string uid;
  std::vector<error_cause> causes;
  int retry_after_seconds = 0;  // 0: none
  std::string continue_token;   // for an expired page of a list: continues at the current state
};

template <class T>
using expected = tl::expected<T, error>;

inline tl::unexpected<error> fail(error e) {
  return tl::make_unexpected(std::move(e));
}

// `kind.plural` names the resource in the messages, as upstream: `pods "web" not found`.
error not_found(const kind_info& kind, std::string_view name);
error already_exists(const kind_info& kind, std::string_view name);
error conflict(const kind_info& kind, std::string_view name, std::string_view reason);
error invalid(const kind_info& kind, std::string_view name, std::vector<error_cause> causes);
error bad_request(std::string message);
error unauthorized();
error forbidden(const kind_info& kind, std::string_view name, std::string_view reason);
error unsupported_media_type(std::string_view given, std::string_view accepted);
error not_acceptable(std::string_view accepted);
error request_too_large(std::string_view subject, std::size_t limit_bytes);
error expired(std::string message);  // 410: the revision has been compacted
error too_many_requests(std::string message, int retry_after_seconds);
error timed_out(std::string message, int retry_after_seconds);
error internal(std::string message);
error service_unavailable(std::string message);

// Status for the wire.
meta::v1::Status to_status(const error& e);

}  // namespace troupe::api
