#include "tools/command_line/secret_arguments.hpp"

#include <array>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace troupe::tools {

namespace {

constexpr std::array<std::string_view, 2> flags{"--token", "--certificate-key"};
constexpr const char* variable = "TROUPE_TOKEN";

std::string& environment_token() {
  static std::string token;
  return token;
}

void overwrite(char* text) {
  std::memset(text, 'x', std::strlen(text));
}

}  // namespace

std::vector<std::string> take_secrets(int argc, char** argv) {
  const std::vector<std::string> arguments{argv, argv + argc};
  for (int i = 1; i < argc; ++i) {
    const std::string_view text = arguments[static_cast<std::size_t>(i)];
    for (const auto flag : flags) {
      if (!text.starts_with(flag)) continue;
      const auto rest = text.substr(flag.size());
      if (rest.empty() && i + 1 < argc) overwrite(argv[i + 1]);
      if (rest.starts_with('=')) overwrite(argv[i] + flag.size() + 1);
    }
  }
  if (char* token = std::getenv(variable)) {
    environment_token() = token;
    overwrite(token);
    ::unsetenv(variable);
  }
  return arguments;
}

const std::string& token_of_environment() {
  return environment_token();
}

}  // namespace troupe::tools
