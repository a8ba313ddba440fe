// Parses the text form of label selectors, as used by kubectl -l.
#pragma once

#include <string_view>
#include <vector>

#include "api/selectors/selector.hpp"

namespace troupe::api {

// The requirements in the order of the text. 400 names the unexpected token and the expected one.
expected<std::vector<label_requirement>> parse_label_requirements(std::string_view text);

// Checks key and values against the operator and sorts the values.
expected<label_requirement> make_requirement(std::string key, label_operator op,
                                             std::vector<std::string> values);

}  // namespace troupe::api
