// A live stream of the messages of an actor, of an object's actors, or of all: one tracing actor
// for each client.
//
// It reads (trace_reader.hpp) ten times a second without notice of the traced actors; the watcher
// sends it the changes of an object. A slow client gets fewer lines and the number of missed ones.
// The stream ends with the client, with the link to the traced machine, or after
// `defaults::trace_limit`.
#pragma once

#include <memory>
#include <string>

#include "server/console/context/context.hpp"
#include "server/http/http.hpp"

namespace troupe::server {

// Starts the stream, with a line of JSON or text for each message, or responds with an error.
void start_trace(const console_context& context, const request& request, const responder& answer);
// Traces actors of another machine, from the end of its first page.
void start_far_trace(const console_context& context, const std::string& node,
                     const request& request, std::string_view first_page, const responder& answer);

}  // namespace troupe::server
