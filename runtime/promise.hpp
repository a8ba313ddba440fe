// The obligation to answer a request. Destroying an unanswered promise fails the request with
// `request_error::broken`: a missing answer fails at once instead of with a timeout.
#pragma once

#include <cstdint>
#include <utility>

#include "runtime/actor_ref.hpp"
#include "runtime/message.hpp"
#include "runtime/unique_function.hpp"

namespace troupe::runtime {

enum class request_error {
  timeout,       // no answer within the timeout of the request
  down,          // the receiver has ended, or ended before it answered
  broken,        // the receiver dropped its promise, or threw while it handled the request
  unhandled,     // the receiver does not handle such a request
  mailbox_full,  // the receiver has `defaults::mailbox_limit` messages waiting
  wrong_reply,   // the reply was of another type than requested
};

const char* to_string(request_error error) noexcept;

// Called with the reply, or with an empty message and the error.
using reply_handler = unique_function<void(const message&, const request_error*)>;

// May be kept, moved to another thread and answered there. A second answer is ignored. If it is
// destroyed because its actor ends, the request fails with `down` instead.
class promise_base {
 public:
  promise_base() = default;
  promise_base(actor_ref requester, std::uint64_t request_id, cause cause)
      : requester_{std::move(requester)}, request_id_{request_id}, cause_{cause} {}
  promise_base(promise_base&& other) noexcept
      : requester_{std::move(other.requester_)},
        request_id_{std::exchange(other.request_id_, 0)},
        cause_{other.cause_} {}
  promise_base& operator=(promise_base&& other) noexcept;
  ~promise_base() {
    if (pending()) fail(request_error::broken);
  }

  // False for a message that is not a request, and after the answer.
  bool pending() const noexcept { return request_id_ != 0; }
  void fail(request_error error);

 protected:
  void answer(message reply);

 private:
  actor_ref requester_;
  std::uint64_t request_id_ = 0;
  cause cause_;
};

template <class Reply>
class promise : public promise_base {
 public:
  promise() = default;
  explicit promise(promise_base&& base) : promise_base{std::move(base)} {}

  void deliver(Reply reply) {
    if (pending()) answer(message::of(std::move(reply)));
  }
};

}  // namespace troupe::runtime
