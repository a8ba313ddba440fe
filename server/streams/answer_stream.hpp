// An answer without an end, in the form that the client asks for: parts of one body, or messages of
// a WebSocket. A handle as `stream` is. Thread safe.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "server/connections/websocket.hpp"
#include "server/http/http.hpp"

namespace troupe::server {

class answer_stream {
 public:
  answer_stream() = default;

  // The status by which the answer to this request is counted: 101 or 200.
  static int status_for(const request& request);
  // Answers with `head`, or with the handshake of a WebSocket, for which one of `protocols` is
  // chosen. What the client of a WebSocket sends is not looked at. A handshake that is refused
  // calls `closed`.
  static answer_stream open(const request& request, const responder& answer, response head,
                            const std::vector<std::string>& protocols, stream_events events);

  bool by_messages() const noexcept { return messages_; }
  // Of a WebSocket.
  const std::string& protocol() const noexcept { return socket_.protocol(); }
  // A part, which is a whole message of a WebSocket. False: no room, wait for `writable`.
  bool write(std::string_view part, shared_text owner, bool binary) const;
  void close() const;

 private:
  bool messages_ = false;
  stream stream_;
  websocket socket_;
};

}  // namespace troupe::server
