#include "actors/access/rules.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "actors/access/defaults.hpp"
#include "api/codec/json_text.hpp"

namespace troupe::actors::access {
namespace {

using texts = google::protobuf::RepeatedPtrField<std::string>;

constexpr std::string_view all = "*";

bool has(const texts& list, std::string_view text) {
  return std::any_of(list.begin(), list.end(), [&](const auto& each) { return each == text; });
}

bool has_or_all(const texts& list, std::string_view text) {
  return std::any_of(list.begin(), list.end(),
                     [&](const auto& each) { return each == text || each == all; });
}

// "*/scale" is the subresource scale of any resource.
bool is_any_with(std::string_view rule, std::string_view subresource) {
  return !subresource.empty() && rule.size() == subresource.size() + 2 && rule.starts_with("*/") &&
         rule.ends_with(subresource);
}

// `combined` is "pods" or "pods/log".
bool is_combined(std::string_view combined, std::string_view resource,
                 std::string_view subresource) {
  if (subresource.empty()) return combined == resource;
  return combined.size() == resource.size() + subresource.size() + 1 &&
         combined.starts_with(resource) && combined[resource.size()] == '/' &&
         combined.ends_with(subresource);
}

bool resource_matches(const texts& resources, std::string_view resource,
                      std::string_view subresource) {
  return std::any_of(resources.begin(), resources.end(), [&](const std::string& each) {
    return each == all || is_combined(each, resource, subresource) ||
           is_any_with(each, subresource);
  });
}

// The exact path, or with trailing stars everything with this prefix.
bool path_covers(std::string_view rule, std::string_view path) {
  if (rule == path) return true;
  if (!rule.ends_with('*')) return false;
  while (rule.ends_with('*'))
    rule.remove_suffix(1);
  return path.starts_with(rule);
}

bool path_matches(const texts& paths, std::string_view path) {
  return std::any_of(paths.begin(), paths.end(),
                     [&](const std::string& each) { return path_covers(each, path); });
}

// -- coverage -----------------------------------------------------------------------------------

// A single verb on a single resource or path.
struct part {
  const std::string* verb;
  const std::string* group = nullptr;  // null: a path
  const std::string* resource = nullptr;
  const std::string* name = nullptr;  // null: all names
  const std::string* path = nullptr;
};

// A wanted resource may have a subresource: "pods/log" is also covered by "*/log".
bool resource_covers(const texts& resources, std::string_view wanted) {
  const auto slash = wanted.find('/');
  const auto subresource = slash == wanted.npos ? std::string_view{} : wanted.substr(slash + 1);
  return std::any_of(resources.begin(), resources.end(), [&](const std::string& each) {
    return each == all || each == wanted || is_any_with(each, subresource);
  });
}

bool covers(const PolicyRule& held, const part& wanted) {
  if (!has_or_all(held.verbs(), *wanted.verb)) return false;
  if (wanted.path != nullptr) return path_matches(held.non_resource_ur_ls(), *wanted.path);
  const auto& names = held.resource_names();
  const bool named = names.empty() || (wanted.name != nullptr && has(names, *wanted.name));
  return named && has_or_all(held.api_groups(), *wanted.group) &&
         resource_covers(held.resources(), *wanted.resource);
}

std::size_t parts_of(const PolicyRule& rule) {
  const auto size = [](const texts& list) { return static_cast<std::size_t>(list.size()); };
  const auto names = std::max<std::size_t>(size(rule.resource_names()), 1);
  // No overflow: lists in a request have at most about a million entries.
  const auto things =
      std::min<std::size_t>(size(rule.resources()) * names, defaults::covered_parts);
  const auto on_resources =
      std::min<std::size_t>(size(rule.api_groups()) * things, defaults::covered_parts);
  return (on_resources + size(rule.non_resource_ur_ls())) * size(rule.verbs());
}

template <class F>
void each_part(const PolicyRule& rule, F visit) {
  for (const auto& group : rule.api_groups())
    for (const auto& resource : rule.resources())
      for (const auto& verb : rule.verbs()) {
        if (rule.resource_names().empty()) visit(part{&verb, &group, &resource});
        for (const auto& name : rule.resource_names())
          visit(part{&verb, &group, &resource, &name});
      }
  for (const auto& path : rule.non_resource_ur_ls())
    for (const auto& verb : rule.verbs())
      visit(part{.verb = &verb, .path = &path});
}

// Collects missing rules: joins the verbs for one resource, without duplicates, in order.
class missing_rules {
 public:
  void add(const part& missing) {
    auto& rule = rules_[key_of(missing)];
    if (rule.verbs().empty()) {
      if (missing.path != nullptr) {
        rule.add_non_resource_ur_ls(*missing.path);
      } else {
        rule.add_api_groups(*missing.group);
        rule.add_resources(*missing.resource);
        if (missing.name != nullptr) rule.add_resource_names(*missing.name);
      }
    }
    if (!has(rule.verbs(), *missing.verb)) rule.add_verbs(*missing.verb);
  }

  std::vector<PolicyRule> take() {
    std::vector<PolicyRule> out;
    for (auto& [key, rule] : rules_)
      out.push_back(std::move(rule));
    return out;
  }

 private:
  using key = std::tuple<std::string_view, std::string_view, std::string_view, int>;
  static key key_of(const part& of) {
    // Upstream does not join paths.
    if (of.path != nullptr) return {*of.path, *of.verb, {}, 0};
    return {*of.group, *of.resource, of.name == nullptr ? std::string_view{} : *of.name,
            of.name == nullptr ? 1 : 2};
  }
  std::map<key, PolicyRule> rules_;
};

void append_list(std::string& out, std::string_view title, const texts& list) {
  if (list.empty()) return;
  if (out.size() > 1) out += ", ";
  out.append(title).append(":[");
  for (int i = 0; i < list.size(); ++i) {
    if (i > 0) out += ' ';
    out += api::quoted(list[i]);
  }
  out += ']';
}

}  // namespace

bool identity::in_group(std::string_view group) const noexcept {
  return std::any_of(groups.begin(), groups.end(),
                     [&](const std::string& each) { return each == group; });
}

bool allows(const PolicyRule& rule, const attempt& of) {
  if (!has_or_all(rule.verbs(), of.verb)) return false;
  if (!of.on_resource) return path_matches(rule.non_resource_ur_ls(), of.path);
  return has_or_all(rule.api_groups(), of.group) &&
         resource_matches(rule.resources(), of.resource, of.subresource) &&
         (rule.resource_names().empty() || has(rule.resource_names(), of.name));
}

std::string account_user(std::string_view ns, std::string_view name) {
  std::string out{"system:serviceaccount:"};
  return out.append(ns).append(":").append(name);
}

bool is_subject(const api::rbac::v1::Subject& subject, std::string_view binding_ns,
                const identity& who) {
  if (subject.kind() == "User") return subject.name() == who.name;
  if (subject.kind() == "Group") return who.in_group(subject.name());
  if (subject.kind() != "ServiceAccount") return false;
  const auto ns =
      subject.namespace_().empty() ? binding_ns : std::string_view{subject.namespace_()};
  return !ns.empty() && who.name == account_user(ns, subject.name());
}

std::optional<std::vector<PolicyRule>> uncovered(std::span<const PolicyRule* const> held,
                                                 const rule_list& wanted) {
  std::size_t parts = 0;
  for (const auto& rule : wanted)
    if ((parts += parts_of(rule)) > defaults::covered_parts) return std::nullopt;
  missing_rules missing;
  for (const auto& rule : wanted)
    each_part(rule, [&](const part& each) {
      const bool covered = std::any_of(
          held.begin(), held.end(), [&](const PolicyRule* owned) { return covers(*owned, each); });
      if (!covered) missing.add(each);
    });
  return missing.take();
}

std::string to_text(const PolicyRule& rule) {
  std::string out = "{";
  append_list(out, "APIGroups", rule.api_groups());
  append_list(out, "Resources", rule.resources());
  append_list(out, "NonResourceURLs", rule.non_resource_ur_ls());
  append_list(out, "ResourceNames", rule.resource_names());
  append_list(out, "Verbs", rule.verbs());
  return out + "}";
}

}  // namespace troupe::actors::access
