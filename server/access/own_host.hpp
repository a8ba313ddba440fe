// Protection of listeners without authentication against requests from web pages in a browser: by a
// foreign name that resolves to this machine (DNS rebinding), or by a cross-site form. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "server/fwd.hpp"

namespace troupe::server {

// Returns a 403 for a Host other than an address, "localhost" or one of `names`, and for an Origin
// other than that host. Clients other than browsers send no Origin.
std::optional<response> refuse_foreign_page(const request& head,
                                            const std::vector<std::string>& names);

}  // namespace troupe::server
