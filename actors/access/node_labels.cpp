#include "actors/access/node_labels.hpp"

#include <algorithm>
#include <array>
#include <set>

namespace troupe::actors {
namespace {

constexpr std::array own_labels{
    "kubernetes.io/hostname",
    "kubernetes.io/os",
    "kubernetes.io/arch",
    "beta.kubernetes.io/os",
    "beta.kubernetes.io/arch",
    "topology.kubernetes.io/zone",
    "topology.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region",
    "beta.kubernetes.io/instance-type",
    "node.kubernetes.io/instance-type",
};

bool is_within(std::string_view domain, std::string_view parent) {
  return domain.ends_with(parent) &&
         (domain.size() == parent.size() || domain[domain.size() - parent.size() - 1] == '.');
}

}  // namespace

bool may_label(std::string_view label) {
  if (std::find(own_labels.begin(), own_labels.end(), label) != own_labels.end()) return true;
  const auto slash = label.find('/');
  const auto domain = slash == label.npos ? std::string_view{} : label.substr(0, slash);
  if (is_within(domain, "kubelet.kubernetes.io") || is_within(domain, "node.kubernetes.io"))
    return true;
  return !is_within(domain, "kubernetes.io") && !is_within(domain, "k8s.io") &&
         !is_within(domain, "troupe.dev");
}

std::vector<std::string> forbidden_labels(const api::meta::v1::ObjectMeta& before,
                                          const api::meta::v1::ObjectMeta& now) {
  std::set<std::string> found;
  const auto compare = [&found](const auto& labels, const auto& others) {
    for (const auto& [key, value] : labels) {
      const auto other = others.find(key);
      if ((other == others.end() || other->second != value) && !may_label(key)) found.insert(key);
    }
  };
  compare(now.labels(), before.labels());
  compare(before.labels(), now.labels());
  return {found.begin(), found.end()};
}

}  // namespace troupe::actors
