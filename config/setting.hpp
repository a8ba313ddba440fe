// A row of the table: the complete description of a key. Its other names are derived:
// "store.history_time" is store.historyTime in YAML, TROUPE_STORE_HISTORY_TIME in the environment
// and --store-history-time as a flag; a `brief` key omits its group in the last two.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "config/node_config.hpp"

namespace troupe::config {

using names = std::vector<std::string>;
using weights = std::map<std::string, std::int64_t>;

// Choices, DNS names, paths, IP addresses and texts are strings with different validation.
using value = std::variant<std::int64_t, duration, byte_size, address, std::string, names, weights>;

enum class form {
  count,
  duration,
  size,
  address,
  ip_address,
  choice,
  path,
  dns_name,
  names,
  weights
};

struct alias {
  std::string_view text, word;
};

// Access of a row to its member of the struct. set() requires a value accepted by check().
struct access {
  config::form form;
  value (*get)(const node_config&);
  void (*set)(node_config&, const value&);
  // The words of a choice.
  std::span<const std::string_view> choices = {};
  // Alternative spellings of these words.
  std::span<const alias> aliases = {};
};

struct setting {
  std::string_view name;
  access at;
  // One sentence: what the setting does.
  std::string_view about;
  // The unit of a count.
  std::string_view unit = {};
  // Bounds in milliseconds, bytes or the unit; for weights, of each.
  std::int64_t minimum = 0;
  std::int64_t maximum = std::numeric_limits<std::int64_t>::max();
  // A description of a default that is not a constant.
  std::string_view derived = {};
  bool brief = false;
  // The meaning of an empty value, if it is allowed.
  std::string_view when_empty = {};
  bool secret = false;
  // A path of a file or socket; otherwise of a folder.
  bool file = false;
  // All control planes of a cluster need the same value.
  bool shared = false;
};

// The names of a setting.
std::string yaml_name(const setting& row);
std::string flag_name(const setting& row);
std::string environment_name(const setting& row);

// The expected form for messages and help: "a duration from 1s to 24h, such as 10s or 1m30s".
std::string expected_form(const setting& row);

// Parses a value; nullopt if the form is wrong or it is out of bounds.
std::optional<value> read(const setting& row, std::string_view text);

// The canonical text of a value, as the environment and flags accept it. Not for secrets.
std::string write(const value& source);

}  // namespace troupe::config
