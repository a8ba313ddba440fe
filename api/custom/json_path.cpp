#include "api/custom/json_path.hpp"

#include <algorithm>
#include <charconv>

#include "api/codec/json_text.hpp"

namespace troupe::api {
namespace {

using step = json_path_step;

struct comparison_sign {
  std::string_view sign;
  step::comparison means;
};
// Longer signs come first.
constexpr comparison_sign signs[] = {
    {"==", step::comparison::equal},      {"!=", step::comparison::not_equal},
    {"<=", step::comparison::less_equal}, {">=", step::comparison::greater_equal},
    {"<", step::comparison::less},        {">", step::comparison::greater}};

class parser {
 public:
  explicit parser(std::string_view text) : rest_(text) {}

  // Parses to the end, or in a filter to a character that cannot be in a path.
  bool path(std::vector<step>& into, bool in_filter) {
    while (!rest_.empty()) {
      if (rest_.front() == '.') {
        rest_.remove_prefix(1);
        if (rest_.starts_with('.')) return wrong("\"..\" is not supported");
        if (rest_.starts_with('[')) continue;
        if (!member(into)) return false;
      } else if (rest_.front() == '[') {
        rest_.remove_prefix(1);
        if (!bracket(into, in_filter)) return false;
      } else {
        return in_filter || wrong("unexpected " + quoted(rest_));
      }
    }
    return true;
  }

  const std::string& problem() const noexcept { return problem_; }

 private:
  bool wrong(std::string problem) {
    problem_ = std::move(problem);
    return false;
  }
  bool take(std::string_view text) {
    if (!rest_.starts_with(text)) return false;
    rest_.remove_prefix(text.size());
    return true;
  }
  void skip_spaces() {
    while (rest_.starts_with(' '))
      rest_.remove_prefix(1);
  }

  bool member(std::vector<step>& into) {
    std::string name;
    constexpr std::string_view ends = ".[]()=!<> ,{}|&";
    while (!rest_.empty() && ends.find(rest_.front()) == ends.npos) {
      if (rest_.front() == '\\' && rest_.size() > 1) rest_.remove_prefix(1);
      name += rest_.front();
      rest_.remove_prefix(1);
    }
    if (name.empty()) return wrong("a name is missing");
    if (name == "*")
      into.push_back({.is = step::type::every});
    else
      into.push_back({.name = std::move(name)});
    return true;
  }

  bool text_literal(std::string& into) {
    const char quote = rest_.front();
    rest_.remove_prefix(1);
    while (!rest_.empty() && rest_.front() != quote) {
      if (rest_.front() == '\\' && rest_.size() > 1) rest_.remove_prefix(1);
      into += rest_.front();
      rest_.remove_prefix(1);
    }
    return take({&quote, 1}) || wrong("unterminated string");
  }

  bool bracket(std::vector<step>& into, bool in_filter) {
    if (take("*]")) {
      into.push_back({.is = step::type::every});
      return true;
    }
    if (rest_.starts_with('\'') || rest_.starts_with('"')) {
      step named;
      if (!text_literal(named.name)) return false;
      into.push_back(std::move(named));
      return take("]") || wrong("a \"]\" is missing");
    }
    if (take("?(")) return in_filter ? wrong("a filter within a filter") : filter(into);
    step counted{.is = step::type::index};
    const auto read = std::from_chars(rest_.data(), rest_.data() + rest_.size(), counted.index);
    if (read.ec != std::errc()) return wrong("unexpected " + quoted(rest_));
    rest_.remove_prefix(static_cast<std::size_t>(read.ptr - rest_.data()));
    into.push_back(std::move(counted));
    return take("]") || wrong("a \"]\" is missing");
  }

  bool filter(std::vector<step>& into) {
    step made{.is = step::type::filter};
    skip_spaces();
    if (!take("@")) return wrong("a filter begins with \"@\"");
    if (!path(made.in_element, true)) return false;
    skip_spaces();
    for (const auto& [sign, means] : signs) {
      if (!take(sign)) continue;
      made.compare = means;
      skip_spaces();
      if (!literal(made.literal)) return false;
      break;
    }
    skip_spaces();
    into.push_back(std::move(made));
    return take(")]") || wrong("a \")]\" is missing");
  }

  bool literal(std::variant<std::string, double, bool>& into) {
    if (rest_.starts_with('\'') || rest_.starts_with('"'))
      return text_literal(into.emplace<std::string>());
    const auto end = std::min(rest_.find_first_of(") "), rest_.size());
    const auto word = rest_.substr(0, end);
    rest_.remove_prefix(end);
    double number = 0;
    const auto read = std::from_chars(word.data(), word.data() + word.size(), number);
    if (word == "true" || word == "false")
      into = word == "true";
    else if (read.ec == std::errc() && read.ptr == word.data() + word.size())
      into = number;
    else
      return wrong("unexpected " + quoted(word));
    return true;
  }

  std::string_view rest_;
  std::string problem_;
};

}  // namespace

tl::expected<json_path, std::string> json_path::parse(std::string_view text) {
  if (text.starts_with('{') && text.ends_with('}')) text = text.substr(1, text.size() - 2);
  if (!text.starts_with('.')) return tl::make_unexpected("must begin with \".\"");
  json_path made;
  parser reading{text};
  if (!reading.path(made.steps_, false)) return tl::make_unexpected(reading.problem());
  return made;
}

bool json_path::plain() const noexcept {
  return std::all_of(steps_.begin(), steps_.end(),
                     [](const auto& each) { return each.is == step::type::member; });
}

bool json_path::starts_with(std::string_view name) const noexcept {
  return !steps_.empty() && steps_.front().is == step::type::member && steps_.front().name == name;
}

bool json_path::is_creation_time() const noexcept {
  return steps_.size() == 2 && starts_with("metadata") && steps_[1].is == step::type::member &&
         steps_[1].name == "creationTimestamp";
}

}  // namespace troupe::api
