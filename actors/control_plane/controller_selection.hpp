// Which controllers a control plane runs while it leads, in upstream's syntax: a list of `*` (all),
// `NAME` (this one) and `-NAME` (not this one), of which the first that names a controller counts.
// Pure functions.
//
// kubernetes: controller-manager/app, IsControllerEnabled.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace troupe::actors {

// The names that a list may hold: those of the leading actors, without the scheduler.
const std::vector<std::string>& controller_names();
// As it is called here: a name of controller_names() or upstream's name of the same controller;
// empty for others.
std::string_view find_controller(std::string_view name);

// Entries that name no controller. An empty list is of no use: everything would stand still.
std::vector<std::string> unknown_controllers(const std::vector<std::string>& list);
bool is_selected(const std::vector<std::string>& list, std::string_view name);

}  // namespace troupe::actors
