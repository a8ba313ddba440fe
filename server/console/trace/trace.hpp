// A live stream of the messages of an actor, of an object, or of all: one actor for each client
// that looks.
//
// It reads (trace_reader.hpp) ten times a second, so the traced actors do not know of it; of the
// changes of an object the watcher tells it. A client that reads slowly gets fewer lines and is
// told how many it missed; the stream ends with the client, with the link to the machine that is
// traced, or after `defaults::trace_limit`.
#pragma once

#include <memory>
#include <string>

#include "server/console/context/context.hpp"
#include "server/http/http.hpp"

namespace troupe::server {

// Starts the stream, a line of JSON or of text for each message, or answers why not.
void start_trace(const console_context& context, const request& request, const responder& answer);
// Of another machine's actors, from where its first page ended.
void start_far_trace(const console_context& context, const std::string& node,
                     const request& request, std::string_view first_page, const responder& answer);

}  // namespace troupe::server
