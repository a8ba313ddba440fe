// Paths that all users may read.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace troupe::server {

// Upstream: system:public-info-viewer. A trailing slash includes all paths below.
inline constexpr std::array<std::string_view, 5> public_paths{"/healthz", "/livez", "/readyz",
                                                              "/version", "/version/"};

// For verifying service account tokens (upstream: system:service-account-issuer-discovery).
inline constexpr std::string_view issuer_path = "/.well-known/openid-configuration";
inline constexpr std::string_view issuer_keys_path = "/openid/v1/jwks";

// The console's page contains no data: it requests them with the user's credentials. Exactly these
// paths, no others below /console/.
inline constexpr std::array<std::string_view, 4> console_page_paths{
    "/console", "/console/", "/console/app.js", "/console/style.css"};
inline bool is_console_page(std::string_view path) noexcept {
  return std::find(console_page_paths.begin(), console_page_paths.end(), path) !=
         console_page_paths.end();
}

}  // namespace troupe::server
