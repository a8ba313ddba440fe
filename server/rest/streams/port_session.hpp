// Connects a client with ports of one pod. A connection that accepts no data blocks the others
// of its client once `stream_inflow_bytes` wait: SPDY has no flow control. Ends with the
// client.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "actors/kubelet/runtime/streams.hpp"
#include "runtime/actor.hpp"
#include "server/rest/calls/call.hpp"
#include "server/streams/port_client.hpp"

namespace troupe::server {

struct port_target {
  std::shared_ptr<actors::stream_source> source;
  std::string pod_uid;
  std::vector<int> ports;  // named by the request
};

class port_session : public runtime::actor {
 public:
  // The request must ask for streams (wants_streams).
  port_session(call_ptr call, port_target target);
  ~port_session() override;

  const runtime::behavior& make_behavior() const override;
  void started() override;
  std::string describe() const override;

 private:
  using port_result = actors::runtime_result<std::unique_ptr<actors::port_stream>>;
  struct opened {
    std::uint32_t connection = 0;
    std::shared_ptr<port_result> result;
  };
  struct part_read {
    std::uint32_t connection = 0;
    std::string bytes;
  };
  struct written {
    std::uint32_t connection = 0;
    bool taken = false;
  };
  struct forwarded {
    int port = 0;
    std::unique_ptr<actors::port_stream> stream = {};  // null: not yet connected
    std::string input = {};                            // not yet written to the port
    std::size_t writing = 0;                           // bytes being written to it
    bool reading = false;
    bool input_ended = false, input_closed = false;
  };
  using entry = std::map<std::uint32_t, forwarded>::value_type;

  // -- messages from the client ---
  void on_client_bytes(const client_bytes& m);
  void on_client_writable(const client_writable&);
  void on_client_closed(const client_closed&);
  // -- messages from the ports ---
  void on_opened(const opened& m);
  void on_part_read(const part_read& m);
  void on_written(const written& m);

  port_events events();
  void open(std::uint32_t connection, int port);
  void read(entry& of);
  void write(entry& of);
  // `problem`: the reason of a failure; empty at a regular end.
  void end(std::uint32_t connection, std::string_view problem);
  void forget(std::uint32_t connection);

  const call_ptr call_;
  const port_target target_;
  std::unique_ptr<port_client> client_;
  std::map<std::uint32_t, forwarded> connections_;
  std::size_t kept_ = 0;  // bytes of the current message that wait in `input`
  bool full_ = false;     // the client accepts no more data for now
  bool active_ = true;    // since the last check
  runtime::timer idle_;
};

}  // namespace troupe::server
