#include "actors/access/default_policy.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "actors/access/default_policy_text.hpp"
#include "actors/access/rules.hpp"
#include "api/invariant.hpp"
#include "api/kinds/rbac.hpp"
#include "api/schema/meta_object.pb.h"
#include "api/schema/rbac_v1.pb.h"
#include "api/values/text_parts.hpp"

namespace troupe::actors::access {

using namespace api::rbac::v1;

namespace {

using words = std::vector<std::string_view>;
using texts = google::protobuf::RepeatedPtrField<std::string>;

constexpr std::string_view read_verbs = "get,list,watch";
constexpr std::string_view write_verbs = "create,delete,deletecollection,patch,update";
constexpr std::string_view controller_role = "system:controller:";
constexpr std::string_view aggregate_label = "rbac.authorization.k8s.io/aggregate-to-";

void need(bool good, std::string_view line) {
  if (!good) api::ensure(false, ("default policy: " + std::string{line}).c_str());
}

void sort(texts& list) {
  std::sort(list.begin(), list.end());
}

void add_list(texts& into, std::string_view list) {
  for (const auto word : api::parts_between(list, ','))
    *into.Add() = word == "core" ? std::string{} : std::string{word};
  sort(into);
}

void add_verbs(PolicyRule& rule, std::string_view verbs) {
  for (const auto word : api::parts_between(verbs, ','))
    for (const auto verb : api::parts_between(word == "read"    ? read_verbs
                                              : word == "write" ? write_verbs
                                                                : word,
                                              ','))
      rule.add_verbs(std::string{verb});
  sort(*rule.mutable_verbs());
}

void read_rule(PolicyRule& rule, const words& line, std::string_view text) {
  if (line.size() == 1 && line[0] == "events") {
    add_verbs(rule, "create,patch,update");
    add_list(*rule.mutable_api_groups(), "core,events.k8s.io");
    return add_list(*rule.mutable_resources(), "events");
  }
  need(line.size() >= 2 && line.size() <= 4, text);
  add_verbs(rule, line[0]);
  if (line.size() == 2) return add_list(*rule.mutable_non_resource_ur_ls(), line[1]);
  add_list(*rule.mutable_api_groups(), line[1]);
  add_list(*rule.mutable_resources(), line[2]);
  if (line.size() == 4) add_list(*rule.mutable_resource_names(), line[3]);
}

void read_subject(Subject& subject, std::string_view word) {
  const auto colon = word.find(':');
  need(colon != word.npos, word);
  const auto kind = word.substr(0, colon);
  const auto name = word.substr(colon + 1);
  if (kind == "account") {
    const auto slash = name.find('/');
    need(slash != name.npos, word);
    subject.set_kind("ServiceAccount");
    subject.set_namespace_(std::string{name.substr(0, slash)});
    subject.set_name(std::string{name.substr(slash + 1)});
    return;
  }
  need(kind == "user" || kind == "group", word);
  subject.set_kind(kind == "user" ? "User" : "Group");
  subject.set_api_group(std::string{api::rbac_group});
  subject.set_name(std::string{name});
}

class policy_reader {
 public:
  void read(std::string_view line) {
    const auto parts = api::parts_between(line, ' ');
    if (parts.empty() || line.starts_with('#')) return;
    if (line.starts_with(' ')) {
      need(rules_ != nullptr, line);
      return read_rule(*rules_->Add(), parts, line);
    }
    need(parts.size() >= 2, line);
    rules_ = nullptr;
    begin(parts, line);
  }
  std::vector<std::unique_ptr<api::body>> take() { return std::move(objects_); }

 private:
  template <class T>
  T& add(std::string_view ns, std::string name) {
    auto made = std::make_unique<T>();
    auto& meta = *made->mutable_metadata();
    meta.set_name(std::move(name));
    if (!ns.empty()) meta.set_namespace_(std::string{ns});
    (*meta.mutable_labels())["kubernetes.io/bootstrapping"] = "rbac-defaults";
    (*meta.mutable_annotations())["rbac.authorization.kubernetes.io/autoupdate"] = "true";
    auto& out = *made;
    objects_.push_back(std::move(made));
    return out;
  }

  static void label(ClusterRole& role, std::string_view word) {
    need(word.starts_with('>'), word);
    (*role.mutable_metadata()
          ->mutable_labels())[std::string{aggregate_label}.append(word.substr(1))] = "true";
  }

  static void refer(RoleRef& to, const char* kind, std::string_view name) {
    to.set_api_group(std::string{api::rbac_group});
    to.set_kind(kind);
    to.set_name(std::string{name});
  }

  template <class Binding>
  static void give(Binding& binding, const words& line, std::size_t first) {
    for (auto i = first; i < line.size(); ++i)
      read_subject(*binding.add_subjects(), line[i]);
  }

  void begin(const words& line, std::string_view text) {
    const auto keyword = line[0];
    const std::string name{line[1]};
    if (keyword == "cluster") {
      auto& role = add<ClusterRole>({}, name);
      rules_ = role.mutable_rules();
      for (std::size_t i = 2; i < line.size(); ++i)
        label(role, line[i]);
    } else if (keyword == "aggregate") {
      need(line.size() >= 3, text);
      auto& role = add<ClusterRole>({}, name);
      auto& selector = *role.mutable_aggregation_rule()->add_cluster_role_selectors();
      (*selector.mutable_match_labels())[std::string{aggregate_label}.append(line[2])] = "true";
      if (line.size() > 3) label(role, line[3]);
    } else if (keyword == "controller") {
      const auto full = std::string{controller_role} + name;
      auto& binding = add<ClusterRoleBinding>({}, full);
      refer(*binding.mutable_role_ref(), "ClusterRole", full);
      read_subject(*binding.add_subjects(), "account:kube-system/" + name);
      rules_ = add<ClusterRole>({}, full).mutable_rules();
    } else if (keyword == "bind") {
      auto& binding = add<ClusterRoleBinding>({}, name);
      refer(*binding.mutable_role_ref(), "ClusterRole", name);
      give(binding, line, 2);
    } else if (keyword == "role") {
      need(line.size() == 3, text);
      rules_ = add<Role>(name, std::string{line[2]}).mutable_rules();
    } else {
      need(keyword == "grant" && line.size() >= 4, text);
      auto& binding = add<RoleBinding>(name, std::string{line[2]});
      refer(*binding.mutable_role_ref(), "Role", line[3]);
      give(binding, line, 4);
    }
  }

  std::vector<std::unique_ptr<api::body>> objects_;
  rule_list* rules_ = nullptr;  // of the role that is being parsed
};

}  // namespace

std::vector<std::unique_ptr<api::body>> read_policy(std::string_view text) {
  policy_reader reader;
  while (!text.empty())
    reader.read(api::take_part(text, '\n'));
  return reader.take();
}

}  // namespace troupe::actors::access
