// Converts the versions of a definition to kinds of the scheme. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/schema/apiextensions_v1.pb.h"
#include "api/scheme.hpp"

namespace troupe::api::definitions {

using apiextensions::v1::CustomResourceDefinition;

// True if the definition has accepted names: it is established, or about to be.
bool is_served(const CustomResourceDefinition& definition);
// Whether both definitions result in the same kinds.
bool serve_same_kinds(const CustomResourceDefinition& now, const CustomResourceDefinition& was);
// Whether objects that match the schemas of one match those of the other.
bool have_same_schemas(const CustomResourceDefinition& now, const CustomResourceDefinition& was);

// The key prefix of its objects, served or not.
std::string objects_prefix(const CustomResourceDefinition& definition);
// A built-in kind has the same group and plural: objects with the prefix do not belong to the
// definition (kubernetes: OverlappingBuiltInResource).
bool overlaps_built_in(const CustomResourceDefinition& definition);

// The storage version comes first, whether it is served or not. Objects
// written before the revision `since` are adjusted to the schema when they are
// read.
std::vector<custom_kind> served_kinds(const object_ptr& definition, std::uint64_t since);

}  // namespace troupe::api::definitions
