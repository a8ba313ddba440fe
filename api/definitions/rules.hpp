// Whether a definition of a custom kind may be stored, and what its writes change. Pure.
//
// kubernetes: apiextensions-apiserver/pkg/apis/apiextensions/{v1/defaults,validation/validation}.go
// and registry/customresourcedefinition/strategy.go.
#pragma once

#include <string_view>

#include "api/fwd.hpp"
#include "api/schema/apiextensions_v1.pb.h"
#include "api/strategy/strategy.hpp"

namespace troupe::api {

class findings;

namespace definitions {

using apiextensions::v1::CustomResourceDefinition;

// Holds a definition back until its objects are gone.
inline constexpr std::string_view cleanup_finalizer = "customresourcecleanup.apiextensions.k8s.io";

// The names that are left out.
void complete(CustomResourceDefinition& definition);
// A new one has no status but the version in which objects will be stored.
void begin(CustomResourceDefinition& definition);
// Versions in which objects have been stored are not forgotten.
void keep(CustomResourceDefinition& now);
// The objects go first.
deletion_plan plan_delete(const CustomResourceDefinition& stored, std::int64_t now_seconds);

// The version in which objects are stored; null where no version says so.
const apiextensions::v1::CustomResourceDefinitionVersion* storage_version(
    const CustomResourceDefinition& definition);

void check(findings& out, const CustomResourceDefinition& definition);
void check_create(findings& out, const CustomResourceDefinition& definition);
void check_update(findings& out, const CustomResourceDefinition& now,
                  const CustomResourceDefinition& was);
void check_status(findings& out, const CustomResourceDefinition& now);

}  // namespace definitions
}  // namespace troupe::api
