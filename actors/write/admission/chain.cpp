#include "actors/write/admission/chain.hpp"

#include <utility>

#include "api/scheme.hpp"

namespace troupe::actors::admission {

chain::chain(plugin_list plugins, external_step_list external)
    : plugins_{std::move(plugins)}, external_{std::move(external)} {
  for (const auto* kind : api::scheme::instance().all())
    if (!kind->custom()) rows_.emplace(kind, rows_of(*kind));
  for (const bool namespaced : {false, true}) {
    api::Kind any;
    any.set_namespaced(namespaced);
    custom_rows_[namespaced] = rows_of(*api::kind_info::make_custom(std::move(any)));
  }
}

chain::rows chain::rows_of(const api::kind_info& kind) const {
  rows made;
  for (std::size_t i = 0; i < made.size(); ++i) {
    const auto op = static_cast<operation>(i / 2);
    const bool part = i % 2 != 0;
    for (const auto& each : plugins_)
      if (part ? each->handles_part(kind, op) : each->handles(kind, op))
        made[i].plugins.push_back(each.get());
    for (const auto& each : external_)
      if (each->handles(kind, op, part)) made[i].external.push_back(each.get());
  }
  return made;
}

// Internal kinds are not admitted.
const chain::row& chain::find(const api::kind_info& kind, operation op, bool part) const {
  static const row nobody;
  const auto at = 2 * static_cast<std::size_t>(op) + part;
  if (kind.custom()) return custom_rows_[kind.namespaced()][at];
  const auto found = rows_.find(&kind);
  return found == rows_.end() ? nobody : found->second[at];
}

}  // namespace troupe::actors::admission
