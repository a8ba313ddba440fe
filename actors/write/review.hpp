// Runs the external steps of admission in sequence for a write that waits as a value.
#pragma once

#include <functional>
#include <memory>

#include "actors/write/external_calls.hpp"
#include "actors/write/pipeline.hpp"

namespace troupe::actors {

using draft_ptr = std::shared_ptr<draft>;

// The services of the write service that a review uses.
class review_host {
 public:
  virtual ~review_host() = default;
  virtual external_calls& calls() = 0;
  virtual runtime::time_point now() const = 0;
  // Runs `step` on a thread of the service, not on the thread that delivered the answer.
  virtual void resume(std::function<void()> step) = 0;
  // Runs prepare() and check() against the newest state.
  virtual api::expected<void> prepare_again(draft& write) = 0;
  virtual api::expected<void> check_now(draft& write) = 0;
};
using review_host_ptr = std::shared_ptr<review_host>;

// Runs a prepared write through the mutating external steps, the check and the validating steps.
// `then` runs once: the write is ready to be finished, or rejected.
void review(review_host_ptr host, draft_ptr write, std::function<void(api::expected<void>)> then);

}  // namespace troupe::actors
