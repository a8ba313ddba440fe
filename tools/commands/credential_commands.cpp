#include "tools/commands/credential_commands.hpp"

#include "api/values/timestamp.hpp"

namespace troupe::tools {

std::string expiry_text(const std::optional<std::chrono::system_clock::time_point>& expires) {
  if (!expires) return "never";
  const auto seconds = std::chrono::floor<std::chrono::seconds>(*expires).time_since_epoch();
  const bool over = *expires <= std::chrono::system_clock::now();
  return api::format_time(seconds.count()) + (over ? " (over)" : "");
}

}  // namespace troupe::tools
