// The constants of joining and their sources.
#pragma once

#include <chrono>
#include <cstddef>
#include <string_view>

namespace troupe::server::join_defaults {

using namespace std::chrono_literals;

// kubernetes: cluster-bootstrap/api, bootstrap tokens.
inline constexpr std::string_view bootstrap_user = "system:bootstrap:";

inline constexpr std::string_view api_prefix = "/troupe/v1/";

// A certificate request with an RSA key of 4096 bits takes 3 KB.
inline constexpr std::size_t body_limit_bytes = 16u << 10;
// Rate limit of certificates: a burst, and a rate per second. A whole rack can join at once, and
// signing never takes more than a few percent of a core.
inline constexpr double certificate_burst = 200;
inline constexpr double certificates_per_second = 50;
// Attempts after a conflict on the Node.
inline constexpr int write_attempts = 5;
// The start of validity lies in the past, for clients with slow clocks; at most this part (1/n) of
// the certificate's life.
inline constexpr auto backdated = 5min;
inline constexpr int backdated_part = 10;
// Service account keys handed to a control plane: more than a cluster has reason to keep.
inline constexpr std::size_t bundle_files = 20;
// Pods of a leaving node that are evicted by one request, and named in its response.
inline constexpr std::size_t evictions_at_once = 100;

}  // namespace troupe::server::join_defaults
