// Indented JSON: one member per line.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "server/http/body.hpp"

namespace troupe::server {

// `json` is a document of ours, without blanks between tokens. Numbers and strings are unchanged.
// A long document is indented part by part while it is sent.
body pretty_body(body json);

// Indents a document in parts, cut anywhere.
class pretty_printer {
 public:
  void append(std::string& out, std::string_view part);

 private:
  // Appends the rest of a string; returns the position after it.
  std::size_t append_string(std::string& out, std::string_view part, std::size_t from);

  std::size_t depth_ = 0;
  bool opened_ = false;  // after a bracket with no content yet
  bool in_string_ = false;
  bool escaped_ = false;  // after a backslash in a string
};

}  // namespace troupe::server
