// Parses the text form of field selectors, without knowledge of a kind.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/error.hpp"

namespace troupe::api {

struct field_term {
  std::string path;
  std::string value;
  bool equal = true;
};

// The terms in the order of the text. 400 for bad syntax.
expected<std::vector<field_term>> parse_field_terms(std::string_view text);

}  // namespace troupe::api
