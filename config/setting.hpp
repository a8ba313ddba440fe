// One row of the table: everything there is to know about a key. Its names in the other worlds are
// derived: "store.history_time" is store.historyTime in YAML, TROUPE_STORE_HISTORY_TIME in the
// environment and --store-history-time as a flag; a `brief` key drops its group in the last two.
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

// Choices, DNS names, paths and texts are strings that differ in what is allowed.
using value = std::variant<std::int64_t, duration, byte_size, address, std::string, names, weights>;

enum class form { count, duration, size, address, choice, path, dns_name, names, weights };

struct alias {
  std::string_view text, word;
};

// How a row reaches its member of the struct. set() takes only what check() let through.
struct access {
  config::form form;
  value (*get)(const node_config&);
  void (*set)(node_config&, const value&);
  // The words of a choice.
  std::span<const std::string_view> choices = {};
  // Other spellings that are read as one of them.
  std::span<const alias> aliases = {};
};

struct setting {
  std::string_view name;
  access at;
  // One sentence: what it does.
  std::string_view about;
  // What a count counts.
  std::string_view unit = {};
  // Bounds in milliseconds, bytes or the unit; of each weight.
  std::int64_t minimum = 0;
  std::int64_t maximum = std::numeric_limits<std::int64_t>::max();
  // Where the default is not a constant: the words that stand for it.
  std::string_view derived = {};
  bool brief = false;
  // May be empty, which means what these words say.
  std::string_view when_empty = {};
  bool secret = false;
  // A path of a file or socket; the others are of folders.
  bool file = false;
};

// The names of a setting.
std::string yaml_name(const setting& row);
std::string flag_name(const setting& row);
std::string environment_name(const setting& row);

// What is expected, for messages and help: "a duration from 1s to 24h, such as 10s or 1m30s".
std::string expected_form(const setting& row);

// The value that the text stands for; nullopt when it has not the form or leaves the bounds.
std::optional<value> read(const setting& row, std::string_view text);

// The canonical text of a value, as the environment and flags take it. Never asked for a secret.
std::string write(const value& source);

}  // namespace troupe::config
