#include "api/error.hpp"

#include <catch2/catch.hpp>

#include "api/codec/codec.hpp"
#include "api/schema/core_v1.pb.h"
#include "api/schema/meta_request.pb.h"
#include "api/scheme.hpp"

namespace troupe::api {
namespace {

const kind_info& pods() {
  return kind_of<core::v1::Pod>();
}
const kind_info& replica_sets() {
  return *scheme::instance().find("apps/v1", "ReplicaSet");
}

std::string status_json(const error& e) {
  return encode_json(to_status(e), "v1", "Status");
}

}  // namespace

TEST_CASE("errors read as those of Kubernetes do") {
  CHECK(not_found(pods(), "web").message == "pods \"web\" not found");
  CHECK(not_found(replica_sets(), "web").message == "replicasets.apps \"web\" not found");
  CHECK(already_exists(pods(), "web").message == "pods \"web\" already exists");
  CHECK(conflict(pods(), "web", "the object has been modified").message ==
        "Operation cannot be fulfilled on pods \"web\": the object has been modified");
  CHECK(forbidden(pods(), "web", "no").message == "pods \"web\" is forbidden: no");
  CHECK(forbidden(pods(), "", "no").message == "pods is forbidden: no");
  CHECK(request_too_large("Request entity", 3145728).message ==
        "Request entity too large: limit is 3145728");
  CHECK(internal("disk").message == "Internal error occurred: disk");
  CHECK(timed_out("slow", 1).message == "Timeout: slow");
}

TEST_CASE("an invalid object names its fields, the same words only once") {
  const error_cause first{"FieldValueRequired", "Required value", "spec.containers"};
  const error_cause second{"FieldValueInvalid", "Invalid value: -1: must be positive", "spec.x"};
  CHECK(invalid(pods(), "web", {first}).message ==
        "Pod \"web\" is invalid: spec.containers: Required value");
  CHECK(invalid(replica_sets(), "", {first, second, first}).message ==
        "ReplicaSet.apps \"\" is invalid: [spec.containers: Required value, spec.x: Invalid value: "
        "-1: must be positive]");
}

TEST_CASE("codes and reasons are those that clients test") {
  const std::vector<std::tuple<error, int, std::string>> cases = {
      {not_found(pods(), "a"), 404, "NotFound"},
      {already_exists(pods(), "a"), 409, "AlreadyExists"},
      {conflict(pods(), "a", "b"), 409, "Conflict"},
      {invalid(pods(), "a", {}), 422, "Invalid"},
      {bad_request("a"), 400, "BadRequest"},
      {unauthorized(), 401, "Unauthorized"},
      {forbidden(pods(), "a", "b"), 403, "Forbidden"},
      {unsupported_media_type("a", "b"), 415, "UnsupportedMediaType"},
      {not_acceptable("a"), 406, "NotAcceptable"},
      {request_too_large("a", 1), 413, "RequestEntityTooLarge"},
      {expired("a"), 410, "Expired"},
      {too_many_requests("a", 1), 429, "TooManyRequests"},
      {timed_out("a", 1), 504, "Timeout"},
      {internal("a"), 500, "InternalError"},
      {service_unavailable("a"), 503, "ServiceUnavailable"},
  };
  for (const auto& [e, code, reason] : cases) {
    INFO(e.message);
    CHECK(e.code == code);
    CHECK(e.reason == reason);
    CHECK(to_status(e).code() == code);
    CHECK(to_status(e).reason() == reason);
  }
}

TEST_CASE("an error becomes the Status that kubectl shows") {
  CHECK(status_json(not_found(replica_sets(), "web")) ==
        R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":)"
        R"("replicasets.apps \"web\" not found","reason":"NotFound","details":{"name":"web",)"
        R"("group":"apps","kind":"replicasets"},"code":404})");
  CHECK(status_json(bad_request("no")) ==
        R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"no",)"
        R"("reason":"BadRequest","code":400})");
  const auto status =
      to_status(invalid(pods(), "web", {{"FieldValueRequired", "Required value", "spec.x"}}));
  CHECK(status.details().kind() == "Pod");
  CHECK(status.details().causes(0).field() == "spec.x");
  CHECK(to_status(too_many_requests("wait", 3)).details().retry_after_seconds() == 3);
}

}  // namespace troupe::api
