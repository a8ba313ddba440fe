// Helpers that the controls share: a walk over the containers of a pod, and the list of violators
// in upstream's wording.
#pragma once

#include <fmt/format.h>

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "api/schema/core_pod.pb.h"

namespace troupe::actors::pod_security {

// Visits the containers of all three lists in upstream's order. An ephemeral container is passed as
// the part that it shares with the others.
template <class Visit>
void for_each_container(const api::core::v1::PodSpec& spec, Visit visit) {
  for (const auto& container : spec.init_containers())
    visit(container);
  for (const auto& container : spec.containers())
    visit(container);
  for (const auto& container : spec.ephemeral_containers())
    visit(container.ephemeral_container_common());
}

using sorted_texts = std::set<std::string, std::less<>>;

// `"a", "b"`.
template <class Texts>
std::string quoted_list(const Texts& texts) {
  std::string joined;
  for (const auto& text : texts)
    joined += fmt::format("{}\"{}\"", joined.empty() ? "" : ", ", text);
  return joined;
}

template <class Texts>
std::string joined(const Texts& texts, std::string_view separator) {
  return fmt::format("{}", fmt::join(texts, separator));
}

inline std::string_view plural(std::string_view one, std::string_view more, std::size_t count) {
  return count == 1 ? one : more;
}

// The violators of a control: the pod itself or some of its containers.
struct offenders {
  bool pod = false;
  std::vector<std::string> containers = {};

  bool empty() const noexcept { return !pod && containers.empty(); }
  // `container "a"`, `containers "a", "b"`.
  std::string container_list() const {
    return fmt::format("{} {}", plural("container", "containers", containers.size()),
                       quoted_list(containers));
  }
  // `pod`, `pod and container "a"`.
  std::string list() const {
    if (!pod) return container_list();
    return containers.empty() ? "pod" : "pod and " + container_list();
  }
};

}  // namespace troupe::actors::pod_security
