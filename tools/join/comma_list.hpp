// Lists as written in flags and in the data that a token brings: a,b,c.
#pragma once

#include <string>
#include <vector>

namespace troupe::tools {

// An empty list for an empty text.
std::vector<std::string> split_commas(const std::string& text);

}  // namespace troupe::tools
