// The selection of controllers that run while a control plane leads, in upstream's syntax: a list
// of `*` (all), `NAME` (on) and `-NAME` (off); the first entry that names a controller applies.
// Pure functions.
//
// kubernetes: controller-manager/app, IsControllerEnabled.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace troupe::actors {

// The valid names: those of the leading actors, without the scheduler.
const std::vector<std::string>& controller_names();
// Our name of a controller, given that name or upstream's name of the same controller; empty if the
// name is unknown.
std::string_view find_controller(std::string_view name);

// Entries that name no controller. An empty list is reported: nothing would run.
std::vector<std::string> unknown_controllers(const std::vector<std::string>& list);
bool is_selected(const std::vector<std::string>& list, std::string_view name);

}  // namespace troupe::actors
