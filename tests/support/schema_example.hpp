// Objects that a structural schema takes, made from the schema alone: for tests against real
// definitions, whose schemas nobody writes examples for.
#pragma once

#include <optional>
#include <string>

#include "api/structural/schema_node.hpp"

namespace troupe::test {

// The members of an object besides apiVersion, kind and metadata, as JSON: what is required, and
// what must be there besides. Nothing where it finds none, a pattern that it cannot guess for one.
std::optional<std::string> schema_example(const api::structural_schema& schema);

}  // namespace troupe::test
