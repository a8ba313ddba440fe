// The admission plugins in order, with one lookup for the plugins that handle a kind and an
// operation.
#pragma once

#include <array>
#include <memory>
#include <unordered_map>
#include <vector>

#include "actors/write/admission/external_step.hpp"
#include "actors/write/admission/plugin.hpp"

namespace troupe::actors::admission {

using plugin_list = std::vector<std::shared_ptr<const plugin>>;
using external_step_list = std::vector<std::shared_ptr<const external_step>>;

// Immutable and thread safe. The first rejection ends the chain.
class chain {
 public:
  // In the order of the calls.
  explicit chain(plugin_list plugins, external_step_list external = {});

  // The plugins for one kind and operation.
  struct row {
    std::vector<const plugin*> plugins;
    std::vector<const external_step*> external;
  };
  const row& find(const api::kind_info& kind, operation op, bool part) const;
  // True if there is any external step.
  bool has_external_steps() const noexcept { return !external_.empty(); }

 private:
  using rows = std::array<row, 2 * operations>;
  rows rows_of(const api::kind_info& kind) const;

  plugin_list plugins_;
  external_step_list external_;
  std::unordered_map<const api::kind_info*, rows> rows_;
  // Custom kinds are added and removed at runtime: one row for cluster scope, one for namespaced.
  std::array<rows, 2> custom_rows_;
};

// The plugins that need no configuration (registry.cpp).
plugin_list built_in_plugins();
const chain& built_in_chain();

}  // namespace troupe::actors::admission
