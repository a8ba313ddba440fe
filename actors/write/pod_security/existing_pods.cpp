#include "actors/write/pod_security/existing_pods.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "actors/write/pod_security/defaults.hpp"

namespace troupe::actors::pod_security {

void existing_pods::add(const api::core::v1::Pod& pod) {
  ++seen_;
  if (checked_ == defaults::pods_checked) return;
  ++checked_;
  if (settings_.exempts_class(pod.spec())) return;
  const auto found = evaluate(demanded_, {pod.metadata(), pod.spec()});
  if (found.empty()) return;
  auto& same = by_reasons_[reasons_of(found)];
  const auto& name = pod.metadata().name();
  if (same.count++ == 0 || name < same.first) same.first = name;
}

std::vector<std::string> existing_pods::warnings(std::string_view ns) const {
  std::vector<std::string> all;
  if (checked_ < seen_)
    all.push_back(
        fmt::format("new PodSecurity enforce level only checked against the first {} of "
                    "{} existing pods",
                    checked_, seen_));
  if (by_reasons_.empty()) return all;
  all.push_back(
      fmt::format("existing pods in namespace \"{}\" violate the new PodSecurity enforce "
                  "level \"{}\"",
                  ns, to_string(demanded_)));
  const auto heading = static_cast<std::ptrdiff_t>(all.size());
  for (const auto& [reasons, same] : by_reasons_) {
    const auto others = same.count - 1;
    const auto more = others == 0
                          ? std::string{}
                          : fmt::format(" (and {} other {})", others, others == 1 ? "pod" : "pods");
    all.push_back(fmt::format("{}{}: {}", same.first, more, reasons));
  }
  std::sort(all.begin() + heading, all.end());
  return all;
}

}  // namespace troupe::actors::pod_security
