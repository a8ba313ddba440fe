#include "api/error.hpp"

#include <unordered_set>

#include "api/kind.hpp"
#include "api/schema/meta_request.pb.h"

namespace troupe::api {
namespace {

error make(int code, const char* reason, std::string message) {
  error e;
  e.code = code;
  e.reason = reason;
  e.message = std::move(message);
  return e;
}

// Upstream's details.kind is the resource, if known.
error regarding(const kind_info& kind, std::string_view name, int code, const char* reason,
                std::string message) {
  error e = make(code, reason, std::move(message));
  e.group = kind.group();
  e.kind = kind.plural();
  e.name = name;
  return e;
}

std::string quoted(std::string_view name) {
  std::string out = "\"";
  out += name;
  out += '"';
  return out;
}

// "a: x" for one cause, "[a: x, b: y]" for several; without duplicates.
std::string joined(const std::vector<error_cause>& causes) {
  std::unordered_set<std::string> seen;
  std::string out;
  for (const error_cause& each : causes) {
    std::string line = each.field.empty() ? each.message : each.field + ": " + each.message;
    const auto [it, fresh] = seen.insert(std::move(line));
    if (!fresh) continue;
    if (seen.size() > 1) out += ", ";
    out += *it;
  }
  return seen.size() == 1 ? out : "[" + out + "]";
}

}  // namespace

error not_found(const kind_info& kind, std::string_view name) {
  return regarding(kind, name, 404, "NotFound",
                   kind.qualified_plural() + " " + quoted(name) + " not found");
}

error already_exists(const kind_info& kind, std::string_view name) {
  return regarding(kind, name, 409, "AlreadyExists",
                   kind.qualified_plural() + " " + quoted(name) + " already exists");
}

error conflict(const kind_info& kind, std::string_view name, std::string_view reason) {
  return regarding(kind, name, 409, "Conflict",
                   "Operation cannot be fulfilled on " + kind.qualified_plural() + " " +
                       quoted(name) + ": " + std::string(reason));
}

error invalid(const kind_info& kind, std::string_view name, std::vector<error_cause> causes) {
  error e =
      regarding(kind, name, 422, "Invalid",
                kind.qualified_kind() + " " + quoted(name) + " is invalid: " + joined(causes));
  e.kind = kind.kind();
  e.causes = std::move(causes);
  return e;
}

error bad_request(std::string message) {
  return make(400, "BadRequest", std::move(message));
}

error unauthorized() {
  return make(401, "Unauthorized", "Unauthorized");
}

error forbidden(const kind_info& kind, std::string_view name, std::string_view reason) {
  std::string resource = kind.qualified_plural();
  if (!name.empty()) resource += " " + quoted(name);
  return regarding(kind, name, 403, "Forbidden",
                   resource + " is forbidden: " + std::string(reason));
}

error unsupported_media_type(std::string_view given, std::string_view accepted) {
  std::string format = given.empty() ? "no media type" : "the media type " + quoted(given);
  return make(415, "UnsupportedMediaType",
              "the body of the request was in an unknown format (" + format +
                  ") - accepted media types include: " + std::string(accepted));
}

error not_acceptable(std::string_view accepted) {
  return make(406, "NotAcceptable",
              "only the following media types are accepted: " + std::string(accepted));
}

error request_too_large(std::string_view subject, std::size_t limit_bytes) {
  return make(413, "RequestEntityTooLarge",
              std::string(subject) + " too large: limit is " + std::to_string(limit_bytes));
}

error expired(std::string message) {
  return make(410, "Expired", std::move(message));
}

error too_many_requests(std::string message, int retry_after_seconds) {
  error e = make(429, "TooManyRequests", std::move(message));
  e.retry_after_seconds = retry_after_seconds;
  return e;
}

error timed_out(std::string message, int retry_after_seconds) {
  error e = make(504, "Timeout", "Timeout: " + std::move(message));
  e.retry_after_seconds = retry_after_seconds;
  return e;
}

error internal(std::string message) {
  error e = make(500, "InternalError", "Internal error occurred: " + message);
  e.causes.push_back({"", std::move(message), ""});
  return e;
}

error service_unavailable(std::string message) {
  return make(503, "ServiceUnavailable", std::move(message));
}

meta::v1::Status to_status(const error& e) {
  meta::v1::Status status;
  auto& list = *status.mutable_metadata();
  if (!e.continue_token.empty()) list.set_continue_(e.continue_token);
  status.set_status("Failure");
  status.set_message(e.message);
  if (!e.reason.empty()) status.set_reason(e.reason);
  status.set_code(e.code);
  meta::v1::StatusDetails details;
  if (!e.name.empty()) details.set_name(e.name);
  if (!e.group.empty()) details.set_group(e.group);
  if (!e.kind.empty()) details.set_kind(e.kind);
  if (!e.uid.empty()) details.set_uid(e.uid);
  if (e.retry_after_seconds != 0) details.set_retry_after_seconds(e.retry_after_seconds);
  for (const error_cause& each : e.causes) {
    auto& cause = *details.add_causes();
    if (!each.reason.empty()) cause.set_reason(each.reason);
    if (!each.message.empty()) cause.set_message(each.message);
    if (!each.field.empty()) cause.set_field(each.field);
  }
  if (details.ByteSizeLong() != 0) *status.mutable_details() = std::move(details);
  return status;
}

}  // namespace troupe::api
