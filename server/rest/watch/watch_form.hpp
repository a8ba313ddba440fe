// How a watch speaks to its client: over which kind of stream, and in which words. The session
// (watch_session.hpp) owns it and is the only one who calls it; it reports room and the client's
// leaving from the connection's thread.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "actors/core/messages.hpp"
#include "server/rest/calls/call.hpp"
#include "server/rest/defaults.hpp"

namespace troupe::server {

class watch_form {
 public:
  virtual ~watch_form() = default;

  // Which objects the client wants to see; empty for all.
  virtual actors::object_filter filter() const = 0;

  // Answers the call; called once, before anything below.
  virtual void open(call& call, std::function<void()> writable, std::function<void()> closed) = 0;
  // A part of a frame, at most `part_bytes` of it. False: wait for `writable`.
  virtual bool write(std::string_view part, const shared_text& frame) = 0;
  virtual void close() = 0;
  virtual std::size_t part_bytes() const { return defaults::watch_chunk_bytes; }

  virtual shared_text event(actors::event_type type, const api::object_ptr& object) = 0;
  // `initial_end`: it marks the end of the initial events.
  virtual shared_text bookmark(std::uint64_t revision, bool initial_end) = 0;
  virtual shared_text error(const api::error& error) = 0;
};

// The form of today's API, as the call wants it.
std::shared_ptr<watch_form> rest_watch_form(const call& call, const list_options& options);

}  // namespace troupe::server
