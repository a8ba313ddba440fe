#include "runtime/promise.hpp"

#include "runtime/detail/actor_cell.hpp"

namespace troupe::runtime {

const char* to_string(request_error error) noexcept {
  switch (error) {
    case request_error::timeout:
      return "no answer in time";
    case request_error::down:
      return "the actor has ended";
    case request_error::broken:
      return "the actor dropped the request";
    case request_error::unhandled:
      return "the actor does not handle this request";
    case request_error::mailbox_full:
      return "the actor's mailbox is full";
    case request_error::wrong_reply:
      return "the answer was of another type";
  }
  return "unknown error";
}

promise_base& promise_base::operator=(promise_base&& other) noexcept {
  if (this != &other) {
    fail(request_error::broken);
    requester_ = std::move(other.requester_);
    request_id_ = std::exchange(other.request_id_, 0);
    cause_ = other.cause_;
  }
  return *this;
}

void promise_base::fail(request_error error) {
  if (!pending()) return;
  if (error == request_error::broken && this_thread::ending) error = request_error::down;
  const auto requester = std::move(requester_);
  access::cell_of(requester)->post_reply(std::exchange(request_id_, 0), {}, error, cause_);
}

void promise_base::answer(message reply) {
  const auto requester = std::move(requester_);
  access::cell_of(requester)->post_reply(std::exchange(request_id_, 0), std::move(reply),
                                         std::nullopt, cause_);
}

}  // namespace troupe::runtime
