#include "tools/join/comma_list.hpp"

#include <algorithm>

namespace troupe::tools {

std::vector<std::string> split_commas(const std::string& text) {
  std::vector<std::string> all;
  for (std::size_t from = 0; from < text.size();) {
    const auto end = std::min(text.find(',', from), text.size());
    all.push_back(text.substr(from, end - from));
    from = end + 1;
  }
  return all;
}

}  // namespace troupe::tools
