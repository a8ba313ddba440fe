// The known plugins by name: those of upstream's scheduler and those of this program.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::actors::scheduler {

// Binds pods through the writer. Not a plugin here, but the default if no plugin binds.
inline constexpr std::string_view default_binder = "DefaultBinder";

// The extension points of a plugin; 0 if it is unknown. Upstream's plugins have upstream's points
// even if ours use fewer: users enable and disable them at these.
std::uint32_t points_of(const std::string& plugin);

// True if profiles may have it: it exists here, or it is the default binder.
bool is_available(const std::string& plugin);

// All valid names in a configuration, sorted.
std::vector<std::string> plugin_names();

// The name of a single point, e.g. "preFilter".
std::string_view name_of(std::uint32_t point);

}  // namespace troupe::actors::scheduler
