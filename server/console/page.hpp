// The web page, part of the program: plain HTML, CSS and JavaScript without anything from outside.
#pragma once

#include <optional>
#include <string_view>

#include "server/http.hpp"

namespace troupe::server {

// /console/ and its two files; everybody may have them, since they hold no data. Nothing for other
// paths.
bool is_console_page(std::string_view path) noexcept;
std::optional<response> console_page(std::string_view path);

}  // namespace troupe::server
