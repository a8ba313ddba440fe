// The web page, part of the program: plain HTML, CSS and JavaScript without anything from outside.
#pragma once

#include <optional>
#include <string_view>

#include "server/http/http.hpp"

namespace troupe::server {

// The file at one of `console_page_paths`; nothing for other paths.
std::optional<response> console_page(std::string_view path);

}  // namespace troupe::server
