// What the sources say, before it is validated: key, text, place.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/setting.hpp"

namespace troupe::config {

struct assignment {
  const setting* row = nullptr;
  std::string text;
  // "troupe.yaml:7", "TROUPE_LISTEN", "--listen"
  std::string place;
};

// Problems are whole lines: "PLACE: KEY: what was expected and found".
struct reading {
  std::vector<assignment> assignments;
  std::vector<std::string> problems;
};

using pairs = std::vector<std::pair<std::string, std::string>>;

// A file of apiVersion config.troupe.dev/v1, kind NodeConfiguration, at most 1 MiB.
reading read_file(const std::filesystem::path& file, std::span<const setting> rows);
// The same for text; `file` is its name in messages.
reading read_yaml(const std::string& text, const std::string& file, std::span<const setting> rows);

// Reads the variables that begin with TROUPE_, TROUPE_CONFIG aside: that one names the file.
reading read_environment(const pairs& variables, std::span<const setting> rows);

// Flags by name, without dashes.
reading read_flags(const pairs& flags, std::span<const setting> rows);

// A text from outside as messages show it: quoted, without control characters, cut when long.
std::string shown(std::string_view text);

// The line for a text that is not what the key wants; a secret's text is not repeated.
std::string refusal(const setting& row, const std::string& place, const std::string& found);

inline constexpr std::string_view config_variable = "TROUPE_CONFIG";
inline constexpr std::string_view api_version = "config.troupe.dev/v1";
inline constexpr std::string_view kind = "NodeConfiguration";

}  // namespace troupe::config
