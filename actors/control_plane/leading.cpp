#include "actors/control_plane/leading.hpp"

#include <utility>

#include "actors/control_plane/controller_selection.hpp"
#include "actors/control_plane/leading_actors.hpp"
#include "actors/core/log.hpp"
#include "actors/write/writer.hpp"

namespace troupe::actors {

leading::leading(const context& of, const control_plane_options& options) : system_{of.system} {
  log().info("control plane: leads from revision {}", of.store.read().at());
  leading_context term{system_, of.store, of.core, options, of.quotas};
  term.core.writer = system_.spawn(
      {.kind = "term-writer", .name = "term-writer"},
      runtime::make<writer>(of.writes, writer_options{.conflict_chance = options.conflict_chance,
                                                      .gate = gate_,
                                                      .fence = of.fence}));
  started_.push_back(term.core.writer);
  for (const auto& each : leading_actors()) {
    if (each.kind != "scheduler" && !is_selected(options.enabled_controllers, each.name)) {
      log().warn("control plane: the controller {} is disabled, so nothing here does this: {}",
                 each.name, each.purpose);
      continue;
    }
    if (auto started = each.start(term)) started_.push_back(std::move(started));
  }
}

leading::~leading() {
  gate_->close();
  for (auto ref = started_.rbegin(); ref != started_.rend(); ++ref)
    system_.stop(*ref);
  log().info("control plane: no longer leads");
}

}  // namespace troupe::actors
