// Writes OpenAPI documents v2 and v3 as JSON.
#pragma once

#include <string>
#include <vector>

#include "api/discovery/foreign_openapi.hpp"
#include "api/discovery/openapi_model.hpp"

namespace troupe::api::openapi {

// The version of Kubernetes whose API is described.
inline constexpr const char* served_version = "v1.33.0";

// Query parameters of requests that write.
inline constexpr const char* write_parameters[] = {"dryRun", "fieldManager", "fieldValidation"};

// `defined`: define_all(kinds).
std::string write_v2(const kind_table& kinds, const definitions& defined,
                     const foreign_openapi& others);
std::string write_v3(const kind_table& kinds, std::string_view api_version);

}  // namespace troupe::api::openapi
