// Lists as they stand in flags and in what a token brings: a,b,c.
#pragma once

#include <string>
#include <vector>

namespace troupe::tools {

// Nothing for an empty text.
std::vector<std::string> split_commas(const std::string& text);

}  // namespace troupe::tools
