// A mailbox entry: the shared message with its sender, cause and kind.
#pragma once

#include <caf/intrusive/singly_linked.hpp>
#include <cstdint>
#include <optional>

#include "runtime/actor_ref.hpp"
#include "runtime/detail/ticks.hpp"
#include "runtime/message.hpp"
#include "runtime/promise.hpp"

namespace troupe::runtime {

enum class envelope_kind : std::uint8_t {
  mail,   // a message; a request if `id` is not 0
  reply,  // the reply to the request `id`, or its error
  timer,  // the pending call `id` is due
  child,  // a child has ended
  wake,   // no content: check the flags
};

struct envelope : caf::intrusive::singly_linked<envelope> {
  message content;
  actor_ref sender;
  runtime::cause cause;
  std::uint64_t id = 0;
  tick_count at = 0;  // when it was posted; 0 without observation
  envelope_kind kind = envelope_kind::mail;
  std::optional<request_error> error;
};

}  // namespace troupe::runtime
