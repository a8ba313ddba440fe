#include "server/http/http.hpp"

#include <algorithm>
#include <array>

namespace troupe::server {
namespace {

constexpr std::array<std::string_view, 7> method_names{"GET",   "HEAD",   "POST",   "PUT",
                                                       "PATCH", "DELETE", "OPTIONS"};

}  // namespace

std::string_view to_string(http_method method) noexcept {
  const auto i = static_cast<std::size_t>(method);
  return i < method_names.size() ? method_names[i] : std::string_view("other");
}

http_method parse_method(std::string_view text) noexcept {
  const auto* found = std::find(method_names.begin(), method_names.end(), text);
  return static_cast<http_method>(found - method_names.begin());
}

bool user_info::in_group(std::string_view group) const noexcept {
  return std::find(groups.begin(), groups.end(), group) != groups.end();
}

}  // namespace troupe::server
