#include "api/values/syntax.hpp"

#include <arpa/inet.h>

#include <algorithm>

#include "api/limits.hpp"

namespace troupe::api {
namespace {

bool lower(char c) {
  return c >= 'a' && c <= 'z';
}
bool digit(char c) {
  return c >= '0' && c <= '9';
}
bool lower_or_digit(char c) {
  return lower(c) || digit(c);
}
bool alphanumeric(char c) {
  return lower_or_digit(c) || (c >= 'A' && c <= 'Z');
}

std::string too_long(std::size_t limit) {
  return "must be no more than " + std::to_string(limit) + " bytes";
}

std::string with_regex(std::string_view rule, std::string_view examples, std::string_view regex) {
  std::string text(rule);
  text += " (e.g. ";
  text += examples;
  text += ", regex used for validation is '";
  text += regex;
  text += "')";
  return text;
}

constexpr std::string_view label_regex = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
constexpr std::string_view subdomain_regex =
    "[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*";
constexpr std::string_view name_regex = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";

bool is_label(std::string_view s) {
  return !s.empty() && lower_or_digit(s.front()) && lower_or_digit(s.back()) &&
         std::all_of(s.begin(), s.end(), [](char c) { return lower_or_digit(c) || c == '-'; });
}

bool is_subdomain(std::string_view s) {
  for (;;) {
    const auto dot = s.find('.');
    if (!is_label(s.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return true;
    s.remove_prefix(dot + 1);
  }
}

// Letters, digits, '-', '_' and '.', with a letter or digit at both ends.
bool is_name(std::string_view s) {
  return !s.empty() && alphanumeric(s.front()) && alphanumeric(s.back()) &&
         std::all_of(s.begin(), s.end(),
                     [](char c) { return alphanumeric(c) || c == '-' || c == '_' || c == '.'; });
}

error_messages alone(std::string complaint) {
  error_messages made;
  made.push_back(std::move(complaint));
  return made;
}

std::string name_complaint() {
  return with_regex(
      "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
      "alphanumeric character",
      "'MyName',  or 'my.name',  or '123-abc'", name_regex);
}

}  // namespace

error_messages check_dns_label(std::string_view s) {
  error_messages found;
  if (s.size() > limits::dns_label_bytes) found.push_back(too_long(limits::dns_label_bytes));
  if (!is_label(s)) {
    found.push_back(with_regex(
        "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and "
        "must start and end with an alphanumeric character",
        "'my-name',  or '123-abc'", label_regex));
  }
  return found;
}

error_messages check_dns_subdomain(std::string_view s) {
  error_messages found;
  if (s.size() > limits::dns_subdomain_bytes)
    found.push_back(too_long(limits::dns_subdomain_bytes));
  if (!is_subdomain(s)) {
    found.push_back(with_regex(
        "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
        "'.', and must start and end with an alphanumeric character",
        "'example.com'", subdomain_regex));
  }
  return found;
}

error_messages check_dns_1035_label(std::string_view s) {
  error_messages found;
  if (s.size() > limits::dns_label_bytes) found.push_back(too_long(limits::dns_label_bytes));
  if (!is_label(s) || !lower(s.front())) {
    found.push_back(with_regex(
        "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an "
        "alphabetic character, and end with an alphanumeric character",
        "'my-name',  or 'abc-123'", "[a-z]([-a-z0-9]*[a-z0-9])?"));
  }
  return found;
}

error_messages check_qualified_name(std::string_view s) {
  const auto slash = s.find('/');
  if (slash != std::string_view::npos && s.find('/', slash + 1) != std::string_view::npos) {
    return alone("a valid label key " + name_complaint() +
                 " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')");
  }
  error_messages found;
  auto name = s;
  if (slash != std::string_view::npos) {
    const auto prefix = s.substr(0, slash);
    name = s.substr(slash + 1);
    if (prefix.empty())
      found.push_back("prefix part must be non-empty");
    else
      for (const auto& complaint : check_dns_subdomain(prefix))
        found.push_back("prefix part " + complaint);
  }
  if (name.empty())
    found.push_back("name part must be non-empty");
  else if (name.size() > limits::dns_label_bytes)
    found.push_back("name part " + too_long(limits::dns_label_bytes));
  if (!is_name(name)) found.push_back("name part " + name_complaint());
  return found;
}

error_messages check_label_value(std::string_view s) {
  error_messages found;
  if (s.size() > limits::dns_label_bytes) found.push_back(too_long(limits::dns_label_bytes));
  if (!s.empty() && !is_name(s)) {
    found.push_back(with_regex(
        "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or "
        "'.', and must start and end with an alphanumeric character",
        "'MyValue',  or 'my_value',  or '12345'", "(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?"));
  }
  return found;
}

error_messages check_port_name(std::string_view s) {
  error_messages found;
  if (s.size() > limits::port_name_bytes) found.push_back(too_long(limits::port_name_bytes));
  if (s.empty() ||
      !std::all_of(s.begin(), s.end(), [](char c) { return lower_or_digit(c) || c == '-'; }))
    found.push_back("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)");
  if (std::none_of(s.begin(), s.end(), lower))
    found.push_back("must contain at least one letter (a-z)");
  if (s.find("--") != std::string_view::npos)
    found.push_back("must not contain consecutive hyphens");
  if (!s.empty() && (s.front() == '-' || s.back() == '-'))
    found.push_back("must not begin or end with a hyphen");
  return found;
}

error_messages check_env_name(std::string_view s) {
  if (s.empty()) return alone("environment variable name must be non-empty");
  if (std::any_of(s.begin(), s.end(), [](char c) { return c < ' ' || c > '~' || c == '='; })) {
    return alone(
        "a valid environment variable name must consist only of printable ASCII characters other "
        "than '='");
  }
  return {};
}

error_messages check_config_key(std::string_view s) {
  error_messages found;
  if (s.size() > limits::dns_subdomain_bytes)
    found.push_back(too_long(limits::dns_subdomain_bytes));
  const bool fits = !s.empty() && std::all_of(s.begin(), s.end(), [](char c) {
    return alphanumeric(c) || c == '-' || c == '_' || c == '.';
  });
  if (!fits) {
    found.push_back(
        with_regex("a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
                   "'key.name',  or 'KEY_NAME',  or 'key-name'", "[-._a-zA-Z0-9]+"));
  } else if (s == ".") {
    found.push_back("must not be '.'");
  } else if (s == "..") {
    found.push_back("must not be '..'");
  } else if (s.starts_with("..")) {
    found.push_back("must not start with '..'");
  }
  return found;
}

error_messages check_ip(std::string_view s) {
  const std::string text(s);
  in6_addr parsed;
  if (text.find('\0') == std::string::npos && (inet_pton(AF_INET, text.c_str(), &parsed) == 1 ||
                                               inet_pton(AF_INET6, text.c_str(), &parsed) == 1))
    return {};
  return alone("must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)");
}

error_messages check_absolute_path(std::string_view s) {
  if (s.starts_with('/')) return {};
  return alone("must be an absolute path");
}

error_messages check_percent(std::string_view s) {
  if (s.size() >= 2 && s.back() == '%' && std::all_of(s.begin(), s.end() - 1, digit)) return {};
  return alone(
      with_regex("a valid percent string must be a numeric string followed by an ending '%'",
                 "'1%',  or '93%'", "[0-9]+%"));
}

error_messages check_http_header_name(std::string_view s) {
  if (!s.empty() &&
      std::all_of(s.begin(), s.end(), [](char c) { return alphanumeric(c) || c == '-'; }))
    return {};
  return alone(with_regex("a valid HTTP header must consist of alphanumeric characters or '-'",
                          "'X-Header-Name'", "[-A-Za-z0-9]+"));
}

error_messages check_path_segment(std::string_view s) {
  if (s == "." || s == "..") return alone("may not be '" + std::string(s) + "'");
  error_messages found;
  for (const char c : {'/', '%'}) {
    if (s.find(c) != std::string_view::npos)
      found.push_back(std::string("may not contain '") + c + "'");
  }
  return found;
}

error_messages check_port_number(long long port) {
  if (port >= 1 && port <= 65535) return {};
  return alone("must be between 1 and 65535, inclusive");
}

error_messages check_syntax(Syntax syntax, std::string_view s) {
  switch (syntax) {
    case DNS_LABEL:
      return check_dns_label(s);
    case DNS_SUBDOMAIN:
      return check_dns_subdomain(s);
    case DNS_1035_LABEL:
      return check_dns_1035_label(s);
    case QUALIFIED_NAME:
      return check_qualified_name(s);
    case LABEL_VALUE:
      return check_label_value(s);
    case PORT_NAME:
      return check_port_name(s);
    case ENV_NAME:
      return check_env_name(s);
    case ABSOLUTE_PATH:
      return check_absolute_path(s);
    case IP:
      return check_ip(s);
    case CONFIG_KEY:
      return check_config_key(s);
    case FREE:
      break;
  }
  return {};
}

}  // namespace troupe::api
