#include "api/selectors/field_terms.hpp"

#include <algorithm>

namespace troupe::api {
namespace {

tl::unexpected<error> invalid_term(std::string_view selector, std::string_view term) {
  return fail(bad_request("invalid selector: '" + std::string(selector) + "'; can't understand '" +
                          std::string(term) + "'"));
}

// Removes the backslashes of a term. Returns false for a backslash before a character other than
// `\`, `,` and `=`, and for an unescaped `=`.
bool unescape(std::string_view raw, std::string& out) {
  for (std::size_t i = 0; i < raw.size(); ++i) {
    if (raw[i] == '=') return false;
    if (raw[i] == '\\') {
      if (++i == raw.size() || (raw[i] != '\\' && raw[i] != ',' && raw[i] != '=')) return false;
    }
    out += raw[i];
  }
  return true;
}

// Up to the next unescaped comma.
std::string_view next_term(std::string_view& rest) {
  std::size_t end = 0;
  while (end < rest.size() && rest[end] != ',')
    end += rest[end] == '\\' ? 2 : 1;
  end = std::min(end, rest.size());
  const auto term = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return term;
}

}  // namespace

expected<std::vector<field_term>> parse_field_terms(std::string_view text) {
  std::vector<field_term> made;
  auto rest = text;
  while (!rest.empty()) {
    const auto raw = next_term(rest);
    if (raw.empty()) continue;
    const auto at = raw.find_first_of("=!");
    if (at == std::string_view::npos) return invalid_term(text, raw);
    std::size_t after = at + 1;
    if (raw[at] == '!') {
      if (after == raw.size() || raw[after] != '=') return invalid_term(text, raw);
      ++after;
    } else if (after < raw.size() && raw[after] == '=') {
      ++after;
    }
    field_term one{.path = std::string{raw.substr(0, at)}, .value = {}, .equal = raw[at] == '='};
    if (!unescape(raw.substr(after), one.value)) return invalid_term(text, raw);
    made.push_back(std::move(one));
  }
  return made;
}

}  // namespace troupe::api
