#include "actors/kubelet/runtimes/cri/pull_turns.hpp"

#include "actors/kubelet/runtimes/cri/defaults.hpp"

namespace troupe::actors {

bool pull_turns::is_free(const std::string& ns) const {
  const auto own = running_.find(ns);
  return all_ < cri_defaults::pulls_at_once &&
         (own == running_.end() || own->second < cri_defaults::pulls_of_namespace);
}

void pull_turns::take(const std::string& ns) {
  ++running_[ns];
  ++all_;
}

void pull_turns::release(const std::string& ns) {
  const auto own = running_.find(ns);
  if (own == running_.end()) return;
  --all_;
  if (--own->second == 0) running_.erase(own);
}

}  // namespace troupe::actors
