// Generates objects that a structural schema accepts, from the schema alone: for tests with real
// definitions, which have no examples.
#pragma once

#include <optional>
#include <string>

#include "api/structural/schema_node.hpp"

namespace troupe::test {

// The members of an object except apiVersion, kind and metadata, as JSON: the required members and
// those that rules demand. Nullopt if it fails, for example at a pattern that it cannot satisfy.
std::optional<std::string> schema_example(const api::structural_schema& schema);

}  // namespace troupe::test
