// Both ends of a link in one process, without threads.
#pragma once

#include <functional>

#include "runtime/link/link.hpp"

namespace troupe::test {

// A frame is received within `send`, or as soon as the running call of its receiver returns or the
// window has room. Sessions and receivers refer to each other until the end.
struct loopback {
  runtime::link::session_ptr one, other;
  std::function<void()> cut;  // ends both like a lost connection
};
// `one` is the client: `at_other` is called first, and `at_one` only if it accepts.
loopback make_loopback(const runtime::link::peer& one, const runtime::link::acceptor& at_one,
                       const runtime::link::peer& other, const runtime::link::acceptor& at_other);

}  // namespace troupe::test
