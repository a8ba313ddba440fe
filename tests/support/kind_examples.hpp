// A small valid object of each kind that a client may create, as YAML, with its row of a table
// right after its creation ("AGE" stands for its age). A new kind of the schema needs one here:
// tests/api/kind_examples_test.cpp requires it.
#pragma once

#include <span>
#include <string_view>

namespace troupe::test {

struct kind_example {
  std::string_view api_version;
  std::string_view kind;
  // The members except apiVersion and kind.
  std::string_view rest;
  std::string_view row;
};

// Namespaced ones are for the namespace "default".
std::span<const kind_example> kind_examples();

}  // namespace troupe::test
