// The steps of admission outside, one after the other, for a write that waits as a value meanwhile.
#pragma once

#include <functional>
#include <memory>

#include "actors/write/outside_calls.hpp"
#include "actors/write/pipeline.hpp"

namespace troupe::actors {

using draft_ptr = std::shared_ptr<draft>;

// The parts of the service that a review needs.
class review_host {
 public:
  virtual ~review_host() = default;
  virtual outside_calls& calls() = 0;
  virtual runtime::time_point now() const = 0;
  // Runs it on a thread of the service, not on that of who has answered.
  virtual void resume(std::function<void()> step) = 0;
  // prepare() and check() against the newest state.
  virtual api::expected<void> prepare_again(draft& write) = 0;
  virtual api::expected<void> check_now(draft& write) = 0;
};
using review_host_ptr = std::shared_ptr<review_host>;

// Takes a prepared write through the mutating steps outside, the check and the validating steps;
// `then` runs once. It is to be finished then, or refused.
void review(review_host_ptr host, draft_ptr write, std::function<void(api::expected<void>)> then);

}  // namespace troupe::actors
