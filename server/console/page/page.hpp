// The console's web page, embedded in the program: HTML, CSS and JavaScript without dependencies.
#pragma once

#include <optional>
#include <string_view>

#include "server/http/http.hpp"

namespace troupe::server {

// The file at one of `console_page_paths`; nullopt for other paths.
std::optional<response> console_page(std::string_view path);

}  // namespace troupe::server
