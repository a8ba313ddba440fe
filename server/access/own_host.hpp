// Against web pages that make a browser ask in their place, where no credentials are asked for: a
// name of theirs that leads to this machine (DNS rebinding), or a form that they send here. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "server/fwd.hpp"

namespace troupe::server {

// A 403 for a Host that is neither an address, "localhost" nor one of `names`, and for an Origin
// that is not that host. Clients that are no browsers send no Origin.
std::optional<response> refuse_foreign_page(const request& head,
                                            const std::vector<std::string>& names);

}  // namespace troupe::server
