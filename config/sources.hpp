// Reads the sources before validation: key, text, place.
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

// Problems are whole lines: "PLACE: KEY: expected and found".
struct reading {
  std::vector<assignment> assignments;
  std::vector<std::string> problems;
};

using pairs = std::vector<std::pair<std::string, std::string>>;

// A file of apiVersion config.troupe.dev/v1, kind NodeConfiguration, at most 1 MiB.
reading read_file(const std::filesystem::path& file, std::span<const setting> rows);
// The same for a text; `file` is its name in messages.
reading read_yaml(const std::string& text, const std::string& file, std::span<const setting> rows);

// Reads the variables that begin with TROUPE_, except TROUPE_CONFIG, which names the file.
reading read_environment(const pairs& variables, std::span<const setting> rows);

// Flags by name, without dashes.
reading read_flags(const pairs& flags, std::span<const setting> rows);

// Formats external text for messages: quoted, without control characters, truncated.
std::string shown(std::string_view text);

// The message for an invalid value; a secret's text is not repeated.
std::string refusal(const setting& row, const std::string& place, const std::string& found);

inline constexpr std::string_view config_variable = "TROUPE_CONFIG";
inline constexpr std::string_view api_version = "config.troupe.dev/v1";
inline constexpr std::string_view kind = "NodeConfiguration";

}  // namespace troupe::config
