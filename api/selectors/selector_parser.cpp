#include "api/selectors/selector_parser.hpp"

#include <algorithm>

#include "api/values/integer.hpp"
#include "api/values/syntax.hpp"

namespace troupe::api {
namespace {

bool special(char c) {
  return std::string_view("=!(),><").find(c) != std::string_view::npos;
}
bool blank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

tl::unexpected<error> wrong(const std::string& found, std::string_view wanted) {
  return fail(bad_request("unable to parse requirement: found '" + found +
                          "', expected: " + std::string(wanted)));
}

class parser {
 public:
  explicit parser(std::string_view text) : rest_(text) {}

  expected<std::vector<label_requirement>> all() {
    std::vector<label_requirement> made;
    if (peek().empty()) return made;
    for (;;) {
      auto one = requirement();
      if (!one) return fail(std::move(one.error()));
      made.push_back(std::move(*one));
      const auto next = take();
      if (next.empty()) return made;
      if (next != ",") return wrong(next, "',' or end of selector");
      // A trailing comma is allowed only in a value set.
      const auto after = peek();
      if (after != "!" && (after.empty() || special(after[0])))
        return wrong(after, "identifier after ','");
    }
  }

 private:
  // The next token: an operator, a parenthesis, a comma or a word; empty at the end.
  std::string token() const {
    auto s = rest_;
    while (!s.empty() && blank(s.front()))
      s.remove_prefix(1);
    if (s.empty()) return {};
    for (const std::string_view two : {"==", "!="})
      if (s.starts_with(two)) return std::string(two);
    if (special(s.front())) return std::string(1, s.front());
    std::size_t end = 0;
    while (end < s.size() && !special(s[end]) && !blank(s[end]))
      ++end;
    return std::string(s.substr(0, end));
  }
  std::string peek() const { return token(); }
  std::string take() {
    while (!rest_.empty() && blank(rest_.front()))
      rest_.remove_prefix(1);
    auto taken = token();
    rest_.remove_prefix(taken.size());
    return taken;
  }
  static bool is_word(const std::string& token) { return !token.empty() && !special(token[0]); }

  expected<label_requirement> requirement() {
    const bool negated = peek() == "!";
    if (negated) take();
    auto key = take();
    if (!is_word(key)) return wrong(key, "identifier");
    if (negated) return make_requirement(std::move(key), label_operator::not_exists, {});
    const auto next = peek();
    if (next.empty() || next == ",")
      return make_requirement(std::move(key), label_operator::exists, {});
    const auto op = take();
    if (op == "in" || op == "notin") return value_set(std::move(key), op == "in");
    if (op == "=" || op == "==") return one_value(std::move(key), label_operator::in);
    if (op == "!=") return one_value(std::move(key), label_operator::not_in);
    if (op == ">") return one_value(std::move(key), label_operator::greater);
    if (op == "<") return one_value(std::move(key), label_operator::less);
    return wrong(op, "in, notin, =, ==, !=, gt, lt");
  }

  // No token after the operator means the empty value.
  expected<label_requirement> one_value(std::string key, label_operator op) {
    const auto next = peek();
    std::string value;
    if (is_word(next))
      value = take();
    else if (!next.empty() && next != ",")
      return wrong(next, "identifier");
    return make_requirement(std::move(key), op, {std::move(value)});
  }

  expected<label_requirement> value_set(std::string key, bool inside) {
    if (const auto open = take(); open != "(") return wrong(open, "'('");
    std::vector<std::string> values;
    if (peek() == ")") {
      take();
    } else {
      for (;;) {
        // `(a,)` and `(,a)` contain the empty value too.
        values.push_back(is_word(peek()) ? take() : std::string());
        const auto next = take();
        if (next == ")") break;
        if (next != ",") return wrong(next, "',' or ')'");
      }
    }
    return make_requirement(std::move(key), inside ? label_operator::in : label_operator::not_in,
                            std::move(values));
  }

  std::string_view rest_;
};

}  // namespace

expected<std::vector<label_requirement>> parse_label_requirements(std::string_view text) {
  return parser(text).all();
}

expected<label_requirement> make_requirement(std::string key, label_operator op,
                                             std::vector<std::string> values) {
  if (const auto wrong_key = check_qualified_name(key); !wrong_key.empty()) {
    return fail(bad_request("unable to parse requirement: key: Invalid value: \"" + key +
                            "\": " + wrong_key.front()));
  }
  const bool set = op == label_operator::in || op == label_operator::not_in;
  const bool none = op == label_operator::exists || op == label_operator::not_exists;
  if (set && values.empty()) {
    return fail(
        bad_request("unable to parse requirement: values: Invalid value: []: for 'in', "
                    "'notin' operators, values set can't be empty"));
  }
  if (none && !values.empty()) {
    return fail(bad_request("unable to parse requirement: values: Invalid value: \"" +
                            values.front() +
                            "\": values set must be empty for exists and does "
                            "not exist"));
  }
  label_requirement made{std::move(key), op, std::move(values), 0};
  for (const auto& value : made.values) {
    const auto error_messages = check_label_value(value);
    if (error_messages.empty()) continue;
    return fail(bad_request("unable to parse requirement: values[" + made.key +
                            "]: Invalid value: \"" + value + "\": " + error_messages.front()));
  }
  if (!set && !none) {
    const auto& text = made.values.front();
    const auto bound = parse_integer<std::int64_t>(text);
    if (!bound)
      return fail(bad_request("unable to parse requirement: values[0]: Invalid value: \"" + text +
                              "\": for 'Gt', 'Lt' operators, the value must be an integer"));
    made.bound = *bound;
  }
  std::sort(made.values.begin(), made.values.end());
  made.values.erase(std::unique(made.values.begin(), made.values.end()), made.values.end());
  return made;
}

}  // namespace troupe::api
