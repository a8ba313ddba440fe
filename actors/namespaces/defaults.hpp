// The constants of this folder, with their sources.
#pragma once

#include <chrono>

namespace troupe::actors::defaults {

// The longest pause between two attempts to create an object of every cluster or namespace; the
// first pause is `try_again`. Upstream's is 1000 s (client-go
// workqueue.DefaultControllerRateLimiter), which is long for a namespace that can run no pods.
inline constexpr std::chrono::seconds creation_retry_longest{60};

}  // namespace troupe::actors::defaults
