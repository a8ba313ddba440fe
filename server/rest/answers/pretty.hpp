// Indented JSON: one member per line.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace troupe::server {

// `json` is a document of ours, without blanks between tokens. Numbers and strings are
// unchanged.
std::string pretty_json(std::string_view json);

// The same for a document in parts, which end between two tokens.
class pretty_printer {
 public:
  void append(std::string& out, std::string_view part);

 private:
  std::size_t depth_ = 0;
  bool opened_ = false;  // after a bracket with no content yet
};

}  // namespace troupe::server
