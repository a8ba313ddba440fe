#include "support/programs/shell.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <sstream>
#include <stdexcept>
#include <string_view>

#include "support/programs/node_settings.hpp"

namespace troupe::test {

namespace {

// Settings of the tests, which a node would refuse as unknown settings of its own.
std::string without_settings() {
  std::string unset;
  for (char** each = environ; *each != nullptr; ++each) {
    const std::string_view entry{*each};
    const auto name = entry.substr(0, entry.find('='));
    if (name.starts_with("TROUPE_") && name != eviction_disk.name) unset.append(" ").append(name);
  }
  return unset.empty() ? unset : "unset" + unset + "; ";
}

}  // namespace

process_result shell(const std::string& command) {
  // "e": concurrently started processes must not keep this pipe open.
  FILE* pipe = ::popen((without_settings() + command).c_str(), "re");
  if (pipe == nullptr) throw std::runtime_error{"cannot be started: " + command};
  std::string output;
  for (char part[4096]; const auto size = std::fread(part, 1, sizeof part, pipe);)
    output.append(part, size);
  const int status = ::pclose(pipe);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status), output};
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream in{text};
  std::vector<std::string> all;
  for (std::string word; in >> word;)
    all.push_back(word);
  return all;
}

}  // namespace troupe::test
