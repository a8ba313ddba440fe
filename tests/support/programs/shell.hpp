// Commands of a shell, run to their end.
#pragma once

#include <string>
#include <vector>

namespace troupe::test {

struct process_result {
  int code;  // minus the number of the signal that ended it
  std::string output;
};

// What the command prints on stdout. Throws std::runtime_error when it cannot be started.
process_result shell(const std::string& command);

// What white space separates.
std::vector<std::string> words_of(const std::string& text);

}  // namespace troupe::test
