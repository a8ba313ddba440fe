// The query of a request, and percent-encoding. Parameters are decoded on demand: most requests
// need only a few. Pure; malformed escapes are kept unchanged.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::server {

// `plus_is_space` applies to form-encoded queries, not to paths.
std::string percent_decode(std::string_view text, bool plus_is_space = false);
// Escapes all except unreserved characters (RFC 3986 2.3).
std::string percent_encode(std::string_view text);

class query_string {
 public:
  query_string() = default;
  explicit query_string(std::string raw) : raw_{std::move(raw)} {}

  const std::string& raw() const noexcept { return raw_; }
  bool empty() const noexcept { return raw_.empty(); }

  // The first value of that name, decoded; empty string for `?name` and `?name=`.
  std::optional<std::string> get(std::string_view name) const;
  // get(), or the fallback if the parameter is absent.
  std::string get_or(std::string_view name, std::string_view fallback) const;
  std::vector<std::string> all(std::string_view name) const;
  bool has(std::string_view name) const;
  // Upstream's conversion of query parameters to bool: present and neither "0" nor "false", in any
  // case.
  bool flag(std::string_view name) const;
  void each(const std::function<void(std::string name, std::string value)>& visit) const;

 private:
  std::string raw_;
};

}  // namespace troupe::server
