// The versions of a definition, as kinds of the scheme. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/schema/apiextensions_v1.pb.h"
#include "api/scheme.hpp"

namespace troupe::api::definitions {

using apiextensions::v1::CustomResourceDefinition;

// It has names: it was established, or is about to be.
bool is_served(const CustomResourceDefinition& definition);
// Whether both make the same kinds.
bool serve_the_same(const CustomResourceDefinition& now, const CustomResourceDefinition& was);
// Whether an object that is in line with one is so with the other.
bool have_the_same_schemas(const CustomResourceDefinition& now,
                           const CustomResourceDefinition& was);

// The beginning of the keys of its objects, served or not.
std::string objects_prefix(const CustomResourceDefinition& definition);
// A kind of the server's own has that group and plural: objects below the prefix are none of the
// definition's (kubernetes: OverlappingBuiltInResource).
bool overlaps_built_in(const CustomResourceDefinition& definition);

// The version in which objects are stored comes first, whether it is served or not. Objects that
// were written before the revision `since` are brought into line with the schema when they are
// read.
std::vector<custom_kind> served_kinds(const object_ptr& definition, std::uint64_t since);

}  // namespace troupe::api::definitions
