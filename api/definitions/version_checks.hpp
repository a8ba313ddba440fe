// Validates one version of a definition; for files of this folder.
#pragma once

#include "api/schema/apiextensions_v1.pb.h"

namespace troupe::api {

class field_errors;

namespace definitions {

// `out.at` is the path of the version.
void check_version(field_errors& out, const apiextensions::v1::CustomResourceDefinitionVersion& of);

}  // namespace definitions
}  // namespace troupe::api
