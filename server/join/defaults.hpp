// The constants of joining and where they come from.
#pragma once

#include <chrono>
#include <cstddef>
#include <string_view>

namespace troupe::server::join_defaults {

using namespace std::chrono_literals;

// kubernetes: cluster-bootstrap/api, bootstrap tokens.
inline constexpr std::string_view bootstrap_user = "system:bootstrap:";

inline constexpr std::string_view api_prefix = "/troupe/v1/";

// A request with an RSA key of 4096 bits takes 3 KB.
inline constexpr std::size_t body_limit_bytes = 16u << 10;
// Certificates signed at once, and each second in the long run: a rack that is switched on gets
// through, and signing never takes more than a few percent of a core.
inline constexpr double certificate_burst = 200;
inline constexpr double certificates_per_second = 50;
// Somebody else changed the Node at the same moment.
inline constexpr int write_attempts = 5;
// Clients whose clocks are a little behind accept a fresh certificate; never more of its life than
// this part.
inline constexpr auto backdated = 5min;
inline constexpr int backdated_part = 10;
// Keys of service accounts that a control plane hands on: more than a cluster has reason to keep.
inline constexpr std::size_t bundle_files = 20;
// Pods of a leaving node whose eviction is asked for in one request, and named in its answer.
inline constexpr std::size_t evictions_at_once = 100;

}  // namespace troupe::server::join_defaults
