// One request proxied to a port of a pod, and its response, at the client's reading speed.
// After an upgrade it transfers bytes in both directions. Ends with the client, or with the
// response.
#pragma once

#include <memory>
#include <string>

#include "runtime/actor.hpp"
#include "server/rest/calls/call.hpp"
#include "server/rest/proxy/backend_connection.hpp"
#include "server/rest/proxy/response_parser.hpp"
#include "server/streams/client_pipe.hpp"

namespace troupe::server {

// The request sent to the port instead of the client's; the client's body follows.
struct proxied_request {
  std::string head;
  std::string path;  // at the port; the client's path has the proxy's prefix before it
  // Errors are plain text, not Status objects.
  bool plain_errors = false;
};

class proxy_session : public runtime::actor {
 public:
  proxy_session(call_ptr call, proxy_target target, proxied_request request);
  ~proxy_session() override;

  const runtime::behavior& make_behavior() const override;
  void started() override;
  std::string describe() const override;

 private:
  // -- messages from the client ---
  void on_client_bytes(const client_bytes& m);
  void on_client_writable(const client_writable&);
  void on_client_closed(const client_closed&);
  // -- messages from the port ---
  void on_opened(const backend_opened& m);
  void on_read(const backend_read& m);
  void on_written(const backend_written& m);

  void read();
  void write();
  void refill();
  void take(std::string bytes);
  void answer(const backend_head& head);
  void pass(std::string bytes);
  void end();
  void fail(const std::string& reason);
  // `whole`: the client has received the complete response.
  void finish(bool whole);

  const call_ptr call_;
  const proxied_request request_;
  backend_connection connection_;
  response_parser parser_;
  stream out_;                  // of a response
  client_pipe tunnel_;          // after 101
  std::string output_;          // not yet written to the port
  std::size_t sent_body_ = 0;   // bytes of the request's body already moved to `output_`
  std::size_t in_flight_ = 0;   // bytes of the client being written to the port
  bool full_ = false;           // the client accepts no more data for now
  bool refuses_input_ = false;  // the port accepts no more data
  bool begun_ = false;          // the response has begun
  bool finished_ = false;
  bool active_ = true;  // since the last check
  runtime::timer late_, gone_, idle_, limit_;
};

}  // namespace troupe::server
