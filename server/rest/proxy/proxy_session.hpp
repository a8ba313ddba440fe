// One request that is passed to a port of a pod, and its answer on the way back, as fast as the
// client takes it. Where both agree on another protocol, its bytes go both ways from then on. Ends
// with the client, or with the answer.
#pragma once

#include <memory>
#include <string>

#include "actors/kubelet/runtime/streams.hpp"
#include "runtime/actor.hpp"
#include "server/rest/calls/call.hpp"
#include "server/rest/proxy/proxy_target.hpp"
#include "server/rest/proxy/response_parser.hpp"
#include "server/rest/proxy/tls_client.hpp"
#include "server/streams/client_pipe.hpp"

namespace troupe::server {

class proxy_session : public runtime::actor {
 public:
  proxy_session(call_ptr call, proxy_target target);
  ~proxy_session() override;

  const runtime::behavior& make_behavior() const override;
  void started() override;
  std::string describe() const override;

 private:
  using port_result = actors::runtime_result<std::unique_ptr<actors::port_stream>>;
  struct opened {
    std::shared_ptr<port_result> result;
  };
  struct part_read {
    std::string bytes;
  };
  struct written {
    bool taken = false;
  };

  // -- messages from the client ---
  void on_client_bytes(const client_bytes& m);
  void on_client_writable(const client_writable&);
  void on_client_closed(const client_closed&);
  // -- messages from the port ---
  void on_opened(const opened& m);
  void on_part_read(const part_read& m);
  void on_written(const written& m);

  void read();
  void write();
  void refill();
  void take(std::string bytes);
  void answer(const backend_head& head);
  void pass(std::string bytes);
  void end();
  void fail(const std::string& reason);
  // `whole`: the client has got all of the answer.
  void finish(bool whole);

  const call_ptr call_;
  const proxy_target target_;
  const std::string path_;  // behind the proxy's own
  std::unique_ptr<actors::port_stream> port_;
  std::unique_ptr<tls_client> tls_;  // null: not asked for
  response_parser parser_;
  stream out_;                 // of an answer
  client_pipe tunnel_;         // after 101
  std::string output_;         // not yet given to the port
  std::size_t sent_body_ = 0;  // bytes of the request's body that have been in `output_`
  std::size_t in_flight_ = 0;  // of the client's bytes, being given to the port
  bool reading_ = false, writing_ = false;
  bool full_ = false;   // the client takes no more for now
  bool deaf_ = false;   // the port takes no more
  bool begun_ = false;  // the client has an answer
  bool finished_ = false;
  bool active_ = true;  // since the last look
  runtime::timer late_, gone_, idle_;
};

}  // namespace troupe::server
