// A response of unknown length, in the form that the client requests: parts of one body, or
// messages of a WebSocket. A handle like `stream`. Thread safe.
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

  // The status recorded for this request: 101 or 200.
  static int status_for(const request& request);
  // Responds with `head`, or with the handshake of a WebSocket, for which one of `protocols`
  // is selected. Data from a WebSocket client is ignored. A refused handshake calls
  // `closed`.
  static answer_stream open(const request& request, const responder& answer, response head,
                            const std::vector<std::string>& protocols, stream_events events);

  bool by_messages() const noexcept { return messages_; }
  // For a WebSocket.
  const std::string& protocol() const noexcept { return socket_.protocol(); }
  // Writes a part; for a WebSocket a whole message. Returns false: no room, wait for `writable`.
  bool write(std::string_view part, shared_text owner, bool binary) const;
  void close() const;

 private:
  bool messages_ = false;
  stream stream_;
  websocket socket_;
};

}  // namespace troupe::server
