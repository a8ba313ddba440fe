#include "api/structural/formats.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

#include "api/structural/schema_node.hpp"
#include "api/values/base64.hpp"
#include "api/values/cidr.hpp"
#include "api/values/syntax.hpp"
#include "api/values/timestamp.hpp"

namespace troupe::api {
namespace {

using format_check = bool (*)(std::string_view);

template <const char* Pattern>
bool matches(std::string_view value) {
  static const text_pattern pattern{Pattern};
  return pattern.found_in(value);
}

bool is_ip(std::string_view value, std::string_view family) {
  return check_ip(value).empty() && ip_family(value) == family;
}

bool is_base64(std::string_view value) {
  std::string bytes;
  return !append_from_base64(bytes, value);
}

bool is_date(std::string_view value) {
  return value.size() == 10 && parse_time(std::string{value} + "T00:00:00Z").has_value();
}

// The digits of a number with a check digit, without separators.
std::string digits_of(std::string_view value) {
  std::string out;
  for (const char c : value)
    if (c != ' ' && c != '-') out += c;
  return out;
}

bool all_digits(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool is_isbn10(std::string_view value) {
  const auto digits = digits_of(value);
  if (digits.size() != 10 || !all_digits(std::string_view{digits}.substr(0, 9))) return false;
  if (digits[9] != 'X' && !all_digits(digits.substr(9))) return false;
  int sum = 0;
  for (int i = 0; i < 10; ++i)
    sum += (10 - i) * (digits[i] == 'X' ? 10 : digits[i] - '0');
  return sum % 11 == 0;
}

bool is_isbn13(std::string_view value) {
  const auto digits = digits_of(value);
  if (digits.size() != 13 || !all_digits(digits)) return false;
  int sum = 0;
  for (int i = 0; i < 13; ++i)
    sum += (i % 2 == 0 ? 1 : 3) * (digits[i] - '0');
  return sum % 10 == 0;
}

// Checks Luhn's check digit.
bool is_credit_card(std::string_view value) {
  const auto digits = digits_of(value);
  if (digits.size() < 13 || digits.size() > 19 || !all_digits(digits)) return false;
  int sum = 0;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    int digit = digits[digits.size() - 1 - i] - '0';
    if (i % 2 == 1 && (digit *= 2) > 9) digit -= 9;
    sum += digit;
  }
  return sum % 10 == 0;
}

constexpr char bson_id[] = "^[0-9a-f]{24}$";
constexpr char color[] = "^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$";
constexpr char rgb[] =
    R"(^rgb\(\s*(0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])\s*,\s*(0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])\s*,\s*(0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])\s*\)$)";
constexpr char social_security[] = R"(^\d{3}[- ]?\d{2}[- ]?\d{4}$)";
constexpr char any_uuid[] =
    "(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$";
constexpr char uuid3[] = "(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$";
constexpr char uuid4[] =
    "(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$";
constexpr char uuid5[] =
    "(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$";
constexpr char mac[] =
    "^([0-9a-fA-F]{2}([:-])[0-9a-fA-F]{2}(([:-])[0-9a-fA-F]{2}){4}(([:-])[0-9a-fA-F]{2}){0,2}|"
    R"([0-9a-fA-F]{4}(\.[0-9a-fA-F]{4}){2,3})$)";
constexpr char email[] = R"(^[^\s@<>()\[\],;:\\"]+@[^\s@<>()\[\],;:\\"]+$)";
// RFC 3986 with a scheme, or a path of the same host.
constexpr char uri[] = R"(^([a-zA-Z][a-zA-Z0-9+.-]*:[^\s]*|/[^\s]*)$)";
// As upstream: Go's time.ParseDuration, and Scala's duration words.
constexpr char duration[] =
    R"(^(0|[-+]?((\d+(\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h))+|\d+\s*(ns|nano|nanos|nanosecond|nanoseconds|us|µs|micro|micros|microsecond|microseconds|ms|milli|millis|millisecond|milliseconds|s|sec|secs|second|seconds|m|min|mins|minute|minutes|h|hr|hrs|hour|hours|d|day|days|w|wk|wks|week|weeks))$)";
constexpr char hostname[] =
    R"(^([a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?\.)*[a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?\.?$)";

struct named_format {
  std::string_view name;  // without dashes
  format_check check;
};

constexpr named_format formats[] = {
    {"bsonobjectid", &matches<bson_id>},
    {"uri", &matches<uri>},
    {"email", &matches<email>},
    {"hostname", [](std::string_view v) { return v.size() <= 255 && matches<hostname>(v); }},
    {"ipv4", [](std::string_view v) { return is_ip(v, "IPv4"); }},
    {"ipv6", [](std::string_view v) { return is_ip(v, "IPv6"); }},
    {"cidr", [](std::string_view v) { return cidr::parse(v).has_value(); }},
    {"mac", &matches<mac>},
    {"uuid", &matches<any_uuid>},
    {"uuid3", &matches<uuid3>},
    {"uuid4", &matches<uuid4>},
    {"uuid5", &matches<uuid5>},
    {"isbn", [](std::string_view v) { return is_isbn10(v) || is_isbn13(v); }},
    {"isbn10", &is_isbn10},
    {"isbn13", &is_isbn13},
    {"creditcard", &is_credit_card},
    {"ssn", &matches<social_security>},
    {"hexcolor", &matches<color>},
    {"rgbcolor", &matches<rgb>},
    {"byte", &is_base64},
    {"date", &is_date},
    {"duration", &matches<duration>},
    {"datetime", [](std::string_view v) { return parse_time(v).has_value(); }},
    {"k8sshortname", [](std::string_view v) { return check_dns_label(v).empty(); }},
    {"k8slongname", [](std::string_view v) { return check_dns_subdomain(v).empty(); }},
};

}  // namespace

bool has_format(std::string_view value, std::string_view format) {
  std::string name{format};
  std::erase(name, '-');
  const auto found = std::find_if(std::begin(formats), std::end(formats),
                                  [&name](const auto& each) { return each.name == name; });
  return found == std::end(formats) || found->check(value);
}

}  // namespace troupe::api
