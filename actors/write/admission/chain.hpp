// The admission plugins in their order, and which of them handle which kind and operation: found by
// one look-up.
#pragma once

#include <array>
#include <memory>
#include <unordered_map>
#include <vector>

#include "actors/write/admission/outside.hpp"
#include "actors/write/admission/plugin.hpp"

namespace troupe::actors::admission {

using plugin_list = std::vector<std::shared_ptr<const plugin>>;
using outside_list = std::vector<std::shared_ptr<const outside_step>>;

// Immutable, safe from any thread. The first refusal counts.
class chain {
 public:
  // In the order in which they are called.
  explicit chain(plugin_list plugins, outside_list outside = {});

  // Those that handle one kind and operation.
  struct row {
    std::vector<const plugin*> plugins;
    std::vector<const outside_step*> outside;
  };
  const row& find(const api::kind_info& kind, operation op, bool part) const;
  // Whether there is a step outside at all.
  bool asks_outside() const noexcept { return !outside_.empty(); }

 private:
  using rows = std::array<row, 2 * operations>;
  rows rows_of(const api::kind_info& kind) const;

  plugin_list plugins_;
  outside_list outside_;
  std::unordered_map<const api::kind_info*, rows> rows_;
  // Custom kinds come and go: one for those of the cluster, one for those of namespaces.
  std::array<rows, 2> custom_rows_;
};

// The plugins that need no configuration (registry.cpp).
plugin_list built_in_plugins();
const chain& built_in_chain();

}  // namespace troupe::actors::admission
