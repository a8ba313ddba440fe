#include "api/selectors/selector.hpp"

#include <algorithm>

#include "api/schema/meta_object.pb.h"
#include "api/selectors/selector_parser.hpp"
#include "api/values/integer.hpp"

namespace troupe::api {
namespace {

bool holds(const label_requirement& r, const std::string& value) {
  return std::binary_search(r.values.begin(), r.values.end(), value);
}

std::string_view word(label_operator op) {
  switch (op) {
    case label_operator::in:
      return " in ";
    case label_operator::not_in:
      return " notin ";
    case label_operator::greater:
      return ">";
    case label_operator::less:
      return "<";
    default:
      return "";
  }
}

void append(std::string& out, const label_requirement& r) {
  if (r.op == label_operator::not_exists) out += '!';
  out += r.key;
  if (r.op == label_operator::exists || r.op == label_operator::not_exists) return;
  const bool set = r.op == label_operator::in || r.op == label_operator::not_in;
  if (set && r.values.size() == 1) {
    out += r.op == label_operator::in ? "=" : "!=";
    out += r.values.front();
    return;
  }
  out += word(r.op);
  if (!set) {
    out += r.values.front();
    return;
  }
  out += '(';
  for (std::size_t i = 0; i < r.values.size(); ++i) {
    if (i > 0) out += ',';
    out += r.values[i];
  }
  out += ')';
}

}  // namespace

bool label_requirement::matches(const label_map& labels) const {
  const auto found = labels.find(key);
  const bool has = found != labels.end();
  switch (op) {
    case label_operator::in:
      return has && holds(*this, found->second);
    case label_operator::not_in:
      return !has || !holds(*this, found->second);
    case label_operator::exists:
      return has;
    case label_operator::not_exists:
      return !has;
    case label_operator::greater:
    case label_operator::less:
      break;
  }
  if (!has) return false;
  const auto number = parse_integer<std::int64_t>(found->second);
  if (!number) return false;
  return op == label_operator::greater ? *number > bound : *number < bound;
}

expected<label_selector> label_selector::parse(std::string_view text) {
  auto parsed = parse_label_requirements(text);
  if (!parsed) return fail(std::move(parsed.error()));
  label_selector made;
  made.requirements_ = std::move(*parsed);
  made.sort();
  return made;
}

expected<label_selector> label_selector::from(const meta::v1::LabelSelector& selector) {
  auto made = from(selector.match_labels());
  for (const auto& expression : selector.match_expressions()) {
    label_operator op;
    const auto& name = expression.operator_();
    if (name == "In")
      op = label_operator::in;
    else if (name == "NotIn")
      op = label_operator::not_in;
    else if (name == "Exists")
      op = label_operator::exists;
    else if (name == "DoesNotExist")
      op = label_operator::not_exists;
    else
      return fail(bad_request("\"" + name + "\" is not a valid label selector operator"));
    auto one = make_requirement(expression.key(), op,
                                {expression.values().begin(), expression.values().end()});
    if (!one) return fail(std::move(one.error()));
    made.requirements_.push_back(std::move(*one));
  }
  made.sort();
  return made;
}

label_selector label_selector::from(const label_map& labels) {
  label_selector made;
  for (const auto& [key, value] : labels)
    made.requirements_.push_back({key, label_operator::in, {value}, 0});
  made.sort();
  return made;
}

label_selector label_selector::nothing() {
  label_selector made;
  made.nothing_ = true;
  return made;
}

bool label_selector::matches(const label_map& labels) const {
  if (nothing_) return false;
  return std::all_of(requirements_.begin(), requirements_.end(),
                     [&](const auto& r) { return r.matches(labels); });
}

std::string label_selector::str() const {
  std::string out;
  for (const auto& r : requirements_) {
    if (!out.empty()) out += ',';
    append(out, r);
  }
  return out;
}

void label_selector::add(label_requirement requirement) {
  requirements_.push_back(std::move(requirement));
  sort();
}

void label_selector::sort() {
  std::stable_sort(requirements_.begin(), requirements_.end(),
                   [](const auto& a, const auto& b) { return a.key < b.key; });
}

}  // namespace troupe::api
