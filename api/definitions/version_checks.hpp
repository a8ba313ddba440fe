// Validates one version of a definition; for files of this folder.
#pragma once

#include "api/schema/apiextensions_v1.pb.h"

namespace troupe::api {

class field_errors;

namespace definitions {

// `out.at` is the path of the version. A definition that preserves unknown fields needs no schema,
// and its schemas may be of any form.
void check_version(field_errors& out, const apiextensions::v1::CustomResourceDefinitionVersion& of,
                   bool needs_schema);

}  // namespace definitions
}  // namespace troupe::api
