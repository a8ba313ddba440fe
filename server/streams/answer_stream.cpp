#include "server/streams/answer_stream.hpp"

#include <utility>

#include "server/http/upgrade.hpp"

namespace troupe::server {

int answer_stream::status_for(const request& request) {
  return wants_websocket(request) ? 101 : 200;
}

answer_stream answer_stream::open(const request& request, const responder& answer, response head,
                                  const std::vector<std::string>& protocols, stream_events events) {
  answer_stream out;
  out.messages_ = wants_websocket(request);
  if (!out.messages_) {
    out.stream_ = answer.start_stream(std::move(head), std::move(events));
    return out;
  }
  const auto closed = events.closed;
  out.socket_ = websocket::accept(request, answer, protocols,
                                  {.message = {},
                                   .writable = std::move(events.writable),
                                   .ponged = {},
                                   .closed = std::move(events.closed)});
  if (!out.socket_.open() && closed) closed();
  return out;
}

bool answer_stream::write(std::string_view part, shared_text owner, bool binary) const {
  return messages_ ? socket_.send(part, std::move(owner), binary)
                   : stream_.write(part, std::move(owner));
}

void answer_stream::close() const {
  stream_.close();
  socket_.close();
}

}  // namespace troupe::server
