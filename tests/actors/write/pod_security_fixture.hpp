// Pods for tests of the Pod Security Standards, as JSON.
#pragma once

#include <catch2/catch.hpp>
#include <string>
#include <string_view>

#include "api/codec/codec.hpp"
#include "api/schema/core_pod.pb.h"
#include "api/scheme.hpp"

namespace troupe::test {

// A pod with this spec, without defaults.
inline api::core::v1::Pod pod_of(std::string_view spec, std::string_view annotations = "{}") {
  const auto text = "{\"metadata\":{\"name\":\"web\",\"namespace\":\"default\",\"annotations\":" +
                    std::string{annotations} + "},\"spec\":" + std::string{spec} + "}";
  const auto decoded = api::decode(text, api::media::json, &api::kind_of<api::core::v1::Pod>(),
                                   {.fields = api::field_validation::strict});
  if (!decoded) FAIL(decoded.error().message);
  return static_cast<const api::core::v1::Pod&>(*decoded->content);
}

// A pod that complies with `restricted` at all versions.
inline api::core::v1::Pod restricted_pod() {
  return pod_of(R"({"securityContext":{"runAsNonRoot":true,)"
                R"("seccompProfile":{"type":"RuntimeDefault"}},"containers":[{"name":"c",)"
                R"("image":"web:1","securityContext":{"allowPrivilegeEscalation":false,)"
                R"("capabilities":{"drop":["ALL"]}}}]})");
}

}  // namespace troupe::test
