// The constants of service account tokens with their sources.
#pragma once

#include <cstdint>

#include "runtime/clock.hpp"

namespace troupe::actors::token_defaults {

using namespace std::chrono_literals;

// kubernetes: pkg/apis/authentication/validation, minTokenAgeSec and 1<<32.
inline constexpr std::int64_t least_lifetime_seconds = 600;
inline constexpr std::int64_t longest_lifetime_seconds = std::int64_t{1} << 32;
// kubernetes: pkg/serviceaccount, ExpirationExtensionSeconds: the validity of a pod's token that
// requests admission::mounted_token_seconds.
inline constexpr std::int64_t extended_lifetime_seconds = 365 * 24 * 3'600;
// go-jose: jwt.DefaultLeeway.
inline constexpr std::int64_t leeway_seconds = 60;
// How often the label of a legacy token's use is looked at, at most; ours.
inline constexpr std::int64_t use_check_seconds = 60;

// The longest pause before a refused write is retried (client-go:
// workqueue.DefaultControllerRateLimiter).
inline constexpr auto longest_retry = 1000s;

}  // namespace troupe::actors::token_defaults
