#include "runtime/detail/children.hpp"

#include "runtime/detail/actor_cell.hpp"

namespace troupe::runtime {

children::key children::key_of(const actor_ref& ref) noexcept {
  const auto* h = access::cell_of(ref);
  return {h->options().kind, h->options().name};
}

actor_ref children::find(std::string_view kind, std::string_view name) const {
  const auto found = all_.find(key{kind, name});
  if (found == all_.end() || access::cell_of(*found)->ending()) return {};
  return *found;
}

void children::add(actor_ref child) {
  const auto found = all_.find(key_of(child));
  if (found != all_.end()) all_.erase(found);
  all_.insert(std::move(child));
}

bool children::remove(const actor_ref& child) {
  const auto found = all_.find(key_of(child));
  if (found == all_.end() || !(*found == child)) return false;
  all_.erase(found);
  return true;
}

}  // namespace troupe::runtime
