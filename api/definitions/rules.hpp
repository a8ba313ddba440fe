// Defaults, validation and update rules of CustomResourceDefinitions. Pure.
//
// kubernetes: apiextensions-apiserver/pkg/apis/apiextensions/{v1/defaults,validation/validation}.go
// and registry/customresourcedefinition/strategy.go.
#pragma once

#include <string_view>

#include "api/fwd.hpp"
#include "api/schema/apiextensions_v1.pb.h"
#include "api/strategy/strategy.hpp"

namespace troupe::api {

class field_errors;

namespace definitions {

using apiextensions::v1::CustomResourceDefinition;

// Delays the deletion of a definition until its objects are gone.
inline constexpr std::string_view cleanup_finalizer = "customresourcecleanup.apiextensions.k8s.io";

// Sets omitted names.
void complete(CustomResourceDefinition& definition);
// Resets the status of a new definition, except for the storage version.
void begin(CustomResourceDefinition& definition);
// Keeps the versions in which objects have been stored.
void keep(CustomResourceDefinition& now);
// Deletes the objects before the definition.
deletion_plan plan_delete(const CustomResourceDefinition& stored, std::int64_t now_seconds);

// The storage version; null if no version is marked as such.
const apiextensions::v1::CustomResourceDefinitionVersion* storage_version(
    const CustomResourceDefinition& definition);

void check(field_errors& out, const CustomResourceDefinition& definition);
void check_create(field_errors& out, const CustomResourceDefinition& definition);
void check_update(field_errors& out, const CustomResourceDefinition& now,
                  const CustomResourceDefinition& was);
void check_status(field_errors& out, const CustomResourceDefinition& now);

}  // namespace definitions
}  // namespace troupe::api
