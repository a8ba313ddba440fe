#include "actors/kubelet/runtimes/cri/image_name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace troupe::actors {

namespace {

using std::string_view;

constexpr std::size_t longest_path = 255, longest_tag = 128;
constexpr std::size_t id_digits = 64, fewest_digest_digits = 32;
constexpr const char* malformed = "invalid reference format";

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_lower(char c) {
  return c >= 'a' && c <= 'z';
}
bool is_upper(char c) {
  return c >= 'A' && c <= 'Z';
}
bool is_letter(char c) {
  return is_lower(c) || is_upper(c);
}
bool is_word(char c) {
  return is_letter(c) || is_digit(c);
}
bool is_lower_hex(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f');
}
bool is_hex(char c) {
  return is_lower_hex(c) || (c >= 'A' && c <= 'F');
}

template <class F>
bool all(string_view text, F is) {
  return std::all_of(text.begin(), text.end(), is);
}

template <class F>
bool each_part(string_view text, char separator, F is) {
  for (;;) {
    const auto end = text.find(separator);
    if (!is(text.substr(0, end))) return false;
    if (end == text.npos) return true;
    text.remove_prefix(end + 1);
  }
}

// Lower-case words, separated by ".", "_", "__" or any number of dashes.
bool is_path_component(string_view text) {
  for (;;) {
    const auto word = std::find_if_not(text.begin(), text.end(),
                                       [](char c) { return is_lower(c) || is_digit(c); }) -
                      text.begin();
    if (word == 0) return false;
    text.remove_prefix(static_cast<std::size_t>(word));
    if (text.empty()) return true;
    const auto separator = text.substr(0, text.find_first_not_of("._-"));
    if (separator.empty() || (separator != "." && separator != "_" && separator != "__" &&
                              !all(separator, [](char c) { return c == '-'; })))
      return false;
    text.remove_prefix(separator.size());
  }
}

// A host name or an IPv6 address in brackets, with an optional port.
bool is_domain(string_view text) {
  if (const auto colon = text.rfind(':'); colon != text.npos && !text.ends_with(']')) {
    const auto port = text.substr(colon + 1);
    if (port.empty() || !all(port, is_digit)) return false;
    text = text.substr(0, colon);
  }
  if (text.starts_with('['))
    return text.size() > 2 && text.ends_with(']') &&
           all(text.substr(1, text.size() - 2), [](char c) { return is_hex(c) || c == ':'; });
  return each_part(text, '.', [](string_view part) {
    return !part.empty() && is_word(part.front()) && is_word(part.back()) &&
           all(part, [](char c) { return is_word(c) || c == '-'; });
  });
}

bool is_tag(string_view text) {
  return !text.empty() && text.size() <= longest_tag && (is_word(text[0]) || text[0] == '_') &&
         all(text, [](char c) { return is_word(c) || c == '_' || c == '.' || c == '-'; });
}

// Empty if the digest is valid.
std::string digest_problem(string_view text) {
  const auto colon = text.find(':');
  if (colon == text.npos) return malformed;
  const auto algorithm = text.substr(0, colon), digits = text.substr(colon + 1);
  const auto is_part = [](string_view part) {
    return !part.empty() && is_letter(part[0]) && all(part, is_word);
  };
  std::string parts{algorithm};
  std::replace_if(
      parts.begin(), parts.end(), [](char c) { return c == '-' || c == '+' || c == '.'; }, '_');
  if (!each_part(parts, '_', is_part) || digits.size() < fewest_digest_digits ||
      !all(digits, is_hex))
    return malformed;
  const std::size_t size = algorithm == "sha256"   ? 64
                           : algorithm == "sha384" ? 96
                           : algorithm == "sha512" ? 128
                                                   : 0;
  if (size == 0)
    return std::any_of(algorithm.begin(), algorithm.end(), is_upper)
               ? "invalid checksum digest format"
               : "unsupported digest algorithm";
  if (digits.size() != size) return "invalid checksum digest length";
  return all(digits, is_lower_hex) ? "" : "invalid checksum digest format";
}

bool names_domain(string_view first) {
  return first == "localhost" || first.find_first_of(".:") != first.npos ||
         std::any_of(first.begin(), first.end(), is_upper);
}

// Empty if it is a name.
std::string problem_of(string_view image) {
  if (image.size() == id_digits && all(image, is_lower_hex))
    return fmt::format("invalid repository name ({}), cannot specify 64-byte hexadecimal strings",
                       image);
  const auto slash = image.find('/');
  const auto domain =
      slash != image.npos && names_domain(image.substr(0, slash)) ? image.substr(0, slash) : "";
  const auto rest = domain.empty() ? image : image.substr(slash + 1);
  const auto repository = rest.substr(0, rest.find(':'));
  if (std::any_of(repository.begin(), repository.end(), is_upper))
    return fmt::format("{}: repository name ({}{}) must be lowercase", malformed,
                       slash == image.npos ? "library/" : "", repository);
  const auto at = rest.find('@');
  const auto named = rest.substr(0, at);
  const auto colon = named.find(':');
  const auto path = named.substr(0, colon);
  if ((!domain.empty() && !is_domain(domain) && !is_path_component(domain)) ||
      !each_part(path, '/', is_path_component) ||
      (colon != named.npos && !is_tag(named.substr(colon + 1))))
    return malformed;
  if (path.size() > longest_path)
    return fmt::format("repository name must not be more than {} characters", longest_path);
  return at == rest.npos ? std::string{} : digest_problem(rest.substr(at + 1));
}

}  // namespace

tl::expected<std::string, std::string> complete_image(const std::string& image) {
  if (const auto problem = problem_of(image); !problem.empty())
    return tl::make_unexpected(
        fmt::format("Failed to apply default image tag \"{}\": couldn't parse image name \"{}\": "
                    "{}",
                    image, image, problem));
  const auto name = image.substr(0, image.find('@'));
  const auto slash = name.rfind('/');
  const bool tagged = name.find(':', slash == name.npos ? 0 : slash) != name.npos;
  return tagged || name.size() != image.size() ? image : image + ":latest";
}

}  // namespace troupe::actors
