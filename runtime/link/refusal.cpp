#include "runtime/link/refusal.hpp"

namespace troupe::runtime::link {

std::string_view to_string(refusal_reason reason) noexcept {
  switch (reason) {
    case refusal_reason::connections_limit:
      return "connections_limit";
    case refusal_reason::handshakes_limit:
      return "handshakes_limit";
    case refusal_reason::handshake_timeout:
      return "handshake_timeout";
    case refusal_reason::handshake_failed:
      return "handshake_failed";
    case refusal_reason::session_refused:
      return "session_refused";
    case refusal_reason::out_of_descriptors:
      return "out_of_descriptors";
  }
  return "unknown";
}

}  // namespace troupe::runtime::link
