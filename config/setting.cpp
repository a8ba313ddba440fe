#include "config/setting.hpp"

#include <algorithm>
#include <cctype>

namespace troupe::config {

namespace {

constexpr std::size_t max_text_bytes = 4096;
constexpr std::size_t max_list_items = 100;
constexpr std::size_t max_dns_name_bytes = 253;

bool in_range(const setting& row, std::int64_t number) {
  return number >= row.minimum && number <= row.maximum;
}

// A bound in the format of the setting.
std::string bound(const setting& row, std::int64_t number) {
  if (row.at.form == form::duration) return print(duration{number});
  if (row.at.form == form::size) return print(byte_size{number});
  return std::to_string(number);
}

std::string range(const setting& row) {
  return " from " + bound(row, row.minimum) + " to " + bound(row, row.maximum);
}

bool is_lower_alnum(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

// RFC 1123 subdomain, as Kubernetes requires of node names.
bool is_dns_name(std::string_view text) {
  if (text.empty() || text.size() > max_dns_name_bytes) return false;
  char before = '.';
  for (const char c : text) {
    const bool good = is_lower_alnum(c) || (c == '-' && before != '.') ||
                      (c == '.' && before != '.' && before != '-');
    if (!good) return false;
    before = c;
  }
  return is_lower_alnum(before);
}

bool is_path(std::string_view text) {
  return !text.empty() && std::none_of(text.begin(), text.end(),
                                       [](unsigned char c) { return std::iscntrl(c) != 0; });
}

// The name of a plugin or of a server.
bool is_name(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string_view{"-_./:@*"}.find(static_cast<char>(c)) != std::string_view::npos;
  });
}

std::optional<names> read_names(std::string_view text) {
  names result;
  while (!text.empty()) {
    const auto comma = text.find(',');
    const auto item = text.substr(0, comma);
    if (!is_name(item) || result.size() == max_list_items) return std::nullopt;
    result.emplace_back(item);
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
    if (text.empty()) return std::nullopt;
  }
  return result;
}

std::optional<value> read_weights(const setting& row, std::string_view text) {
  weights result;
  while (!text.empty()) {
    const auto comma = text.find(',');
    const auto item = text.substr(0, comma);
    const auto equals = item.find('=');
    if (equals == std::string_view::npos || result.size() == max_list_items) return std::nullopt;
    const auto name = item.substr(0, equals);
    const auto weight = parse_count(item.substr(equals + 1));
    if (!is_name(name) || !weight || !in_range(row, *weight)) return std::nullopt;
    if (!result.emplace(name, *weight).second) return std::nullopt;
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
    if (text.empty()) return std::nullopt;
  }
  return result;
}

// Returns the value as T if the number is within the bounds.
template <class T, class Number>
std::optional<value> bounded(const setting& row, const std::optional<T>& parsed, Number number) {
  if (!parsed || !in_range(row, number(*parsed))) return std::nullopt;
  return value{*parsed};
}

std::string with_group(const setting& row) {
  const auto dot = row.name.find('.');
  const bool drop = row.brief && dot != std::string_view::npos;
  return std::string(drop ? row.name.substr(dot + 1) : row.name);
}

}  // namespace

std::string yaml_name(const setting& row) {
  std::string result;
  for (const char c : row.name) {
    if (!result.empty() && result.back() == '_') {
      result.back() = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    } else {
      result += c;
    }
  }
  return result;
}

std::string flag_name(const setting& row) {
  auto result = with_group(row);
  std::replace_if(
      result.begin(), result.end(), [](char c) { return c == '.' || c == '_'; }, '-');
  return result;
}

std::string environment_name(const setting& row) {
  auto result = with_group(row);
  std::transform(result.begin(), result.end(), result.begin(), [](unsigned char c) {
    return c == '.' ? '_' : static_cast<char>(std::toupper(c));
  });
  return "TROUPE_" + result;
}

std::string expected_form(const setting& row) {
  const auto or_empty =
      row.when_empty.empty() ? std::string{} : ", or nothing: " + std::string(row.when_empty);
  switch (row.at.form) {
    case form::count:
      return "a whole number" + range(row);
    case form::duration:
      return "a duration" + range(row) + ", such as 10s or 1m30s";
    case form::size:
      return "a size" + range(row) + ", such as 512Ki or 3Mi";
    case form::address:
      return "HOST:PORT, such as 127.0.0.1:6443 or [::1]:6443" + or_empty;
    case form::ip_address:
      return "an IP address, such as 10.0.0.5 or fd00::5" + or_empty;
    case form::path:
      return "a path" + or_empty;
    case form::dns_name:
      return "a DNS name of lower case letters, digits, '-' and '.', at most 253 characters";
    case form::names:
      return "a list of at most 100 names";
    case form::weights:
      return "names with weights" + range(row);
    case form::choice:
      break;
  }
  std::string result = "one of";
  for (const auto word : row.at.choices)
    result.append(result.size() > 6 ? ", " : " ").append(word);
  return result;
}

std::optional<value> read(const setting& row, std::string_view text) {
  if (text.size() > max_text_bytes) return std::nullopt;
  switch (row.at.form) {
    case form::count:
      return bounded(row, parse_count(text), [](auto n) { return n; });
    case form::duration:
      return bounded(row, parse_duration(text), [](auto d) { return d.count(); });
    case form::size:
      return bounded(row, parse_size(text), [](auto s) { return s.bytes; });
    case form::address: {
      const auto parsed = parse_address(text);
      if (!parsed || (parsed->empty() && row.when_empty.empty())) return std::nullopt;
      return *parsed;
    }
    case form::names: {
      const auto parsed = read_names(text);
      if (!parsed) return std::nullopt;
      return *parsed;
    }
    case form::weights:
      return read_weights(row, text);
    case form::choice: {
      for (const auto& each : row.at.aliases)
        if (each.text == text) return std::string(each.word);
      const auto& words = row.at.choices;
      if (std::find(words.begin(), words.end(), text) == words.end()) return std::nullopt;
      break;
    }
    case form::ip_address: {
      const auto parsed = parse_ip_address(text);
      if (!parsed || (parsed->empty() && row.when_empty.empty())) return std::nullopt;
      return parsed->text;
    }
    case form::dns_name:
      if (!is_dns_name(text)) return std::nullopt;
      break;
    case form::path:
      if (!is_path(text) && !(text.empty() && !row.when_empty.empty())) return std::nullopt;
      break;
  }
  return std::string(text);
}

std::string write(const value& source) {
  struct writer {
    std::string operator()(std::int64_t v) const { return std::to_string(v); }
    std::string operator()(duration v) const { return print(v); }
    std::string operator()(byte_size v) const { return print(v); }
    std::string operator()(const address& v) const { return print(v); }
    std::string operator()(const std::string& v) const { return v; }
    std::string operator()(const names& v) const {
      std::string result;
      for (const auto& name : v)
        result.append(result.empty() ? "" : ",").append(name);
      return result;
    }
    std::string operator()(const weights& v) const {
      std::string result;
      for (const auto& [name, weight] : v) {
        result.append(result.empty() ? "" : ",").append(name).append("=");
        result.append(std::to_string(weight));
      }
      return result;
    }
  };
  return std::visit(writer{}, source);
}

}  // namespace troupe::config
