// A small valid object of each kind that a client may create, as YAML, with the row that a table
// shows of it right after it was created ("AGE" stands for its age). A kind that is added to the
// schema needs one here: tests/api/kind_examples_test.cpp looks for it.
#pragma once

#include <span>
#include <string_view>

namespace troupe::test {

struct kind_example {
  std::string_view api_version;
  std::string_view kind;
  // The members besides apiVersion and kind.
  std::string_view rest;
  std::string_view row;
};

// Namespaced ones are for the namespace "default".
std::span<const kind_example> kind_examples();

}  // namespace troupe::test
