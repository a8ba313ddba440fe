// Runs shell commands to their end.
#pragma once

#include <string>
#include <vector>

namespace troupe::test {

struct process_result {
  int code;  // minus the number of the signal that ended it
  std::string output;
};

// The command's output on stdout. Throws std::runtime_error if it cannot be started.
process_result shell(const std::string& command);

// The words of the text, separated by white space.
std::vector<std::string> words_of(const std::string& text);

}  // namespace troupe::test
