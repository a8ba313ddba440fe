#include "runtime/behavior.hpp"

#include "runtime/actor.hpp"

namespace troupe::runtime {

bool behavior::dispatch(actor& self, const message& content, promise_base& answer) const {
  for (const auto& e : entries_) {
    if (e.type != &content.type()) continue;
    e.call(self, content.data(), answer, e.method);
    if (answer.pending()) answer.fail(request_error::unhandled);
    return true;
  }
  return false;
}

}  // namespace troupe::runtime
