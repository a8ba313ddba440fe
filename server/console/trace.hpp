// A live stream of the messages of an actor, of an object, or of all: one actor for each client
// that looks.
//
// It reads the recorder (runtime/observation.hpp) ten times a second, so the traced actors do not
// know of it. A client that reads slowly gets fewer lines and is told how many it missed; the
// stream ends with the client, or after `defaults::trace_limit`.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "api/error.hpp"
#include "server/console/context.hpp"
#include "server/http.hpp"

namespace troupe::server {

// Starts the stream, a line of JSON or of text for each message, or answers why not.
void start_trace(const console_context& in, const request& what, const responder& answer);

}  // namespace troupe::server
