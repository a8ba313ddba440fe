// The output of a watch: the kind of stream, and the encoding of events. Owned and called by the
// session only (watch_session.hpp); reports room and the client's departure from the connection's
// thread.
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

  // The objects that the client selects; empty for all.
  virtual actors::object_filter filter() const = 0;

  // Responds to the call; called once, before the functions below.
  virtual void open(call& call, std::function<void()> writable, std::function<void()> closed) = 0;
  // Writes a part of a frame, at most `part_bytes`. Returns false: wait for `writable`.
  virtual bool write(std::string_view part, const shared_text& frame) = 0;
  virtual void close() = 0;
  virtual std::size_t part_bytes() const { return defaults::watch_chunk_bytes; }

  virtual shared_text event(actors::event_type type, const api::object_ptr& object) = 0;
  // `initial_end`: marks the end of the initial events.
  virtual shared_text bookmark(std::uint64_t revision, bool initial_end) = 0;
  virtual shared_text error(const api::error& error) = 0;
};

// The form of today's API, as requested by the call.
std::shared_ptr<watch_form> rest_watch_form(const call& call, const list_options& options);

}  // namespace troupe::server
