// What is known of plugins by name: those of upstream's scheduler, and those of this program.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::actors::scheduler {

// Binds pods through the writer. It is no plugin here: it is what happens when no plugin binds.
inline constexpr std::string_view default_binder = "DefaultBinder";

// The points at which a plugin is asked; 0 where nobody knows it. Plugins of upstream have
// upstream's points even where one of ours needs fewer: users switch them by these.
std::uint32_t points_of(const std::string& plugin);

// Whether profiles may have it: it is here, or the default binder.
bool is_available(const std::string& plugin);

// All names that may stand in a configuration, sorted.
std::vector<std::string> plugin_names();

// "preFilter"; of a single point.
std::string_view name_of(std::uint32_t point);

}  // namespace troupe::actors::scheduler
