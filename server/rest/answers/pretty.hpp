// JSON for people: one member to a line.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace troupe::server {

// `json` is a document that we wrote ourselves, without blanks between its parts. Numbers and
// strings stay as they are.
std::string pretty_json(std::string_view json);

// The same of a document that comes in parts, which end between two of its tokens.
class pretty_printer {
 public:
  void append(std::string& out, std::string_view part);

 private:
  std::size_t depth_ = 0;
  bool opened_ = false;  // a bracket, behind which nothing has come yet
};

}  // namespace troupe::server
