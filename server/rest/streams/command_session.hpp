// Connects a client with a command in a container, or with the container's own process: transfers
// bytes in both directions at the speed of the slower side. Ends with the command. When the client
// leaves, the command's input is closed, and after `defaults::stream_farewell` the command is
// killed.
#pragma once

#include <memory>
#include <string>

#include "actors/kubelet/runtime/streams.hpp"
#include "runtime/actor.hpp"
#include "server/rest/calls/call.hpp"
#include "server/streams/command_client.hpp"

namespace troupe::server {

struct command_target {
  std::shared_ptr<actors::stream_source> source;
  std::string container;     // its name
  std::string container_id;  // from the pod's status
  // An empty command: the container's own process.
  actors::exec_request request;
  command_channels channels;
};

class command_session : public runtime::actor {
 public:
  // The request must ask for streams (wants_streams).
  command_session(call_ptr call, command_target target);
  ~command_session() override;

  const runtime::behavior& make_behavior() const override;
  void started() override;
  std::string describe() const override;

 private:
  using exec_result = actors::runtime_result<std::unique_ptr<actors::exec_stream>>;
  struct opened {
    std::shared_ptr<exec_result> result;
  };
  struct part_read {
    actors::exec_part part;
  };
  struct written {
    bool taken = false;
  };

  // -- messages from the client ---
  void on_client_bytes(const client_bytes& m);
  void on_client_writable(const client_writable&);
  void on_client_reads(const client_reads&);
  void on_client_closed(const client_closed&);
  // -- messages from the command ---
  void on_opened(const opened& m);
  void on_part_read(const part_read& m);
  void on_written(const written& m);

  bool attaches() const { return target_.request.command.empty(); }
  void open();
  void read();
  void write();
  void finish(const actors::exec_part& end);
  void finish(const api::meta::v1::Status& status);

  const call_ptr call_;
  const command_target target_;
  std::unique_ptr<command_client> client_;
  std::unique_ptr<actors::exec_stream> stream_;
  std::string input_;        // not yet written to the command
  std::size_t writing_ = 0;  // bytes being written to it
  std::optional<terminal_size> size_;
  bool asked_ = false, finished_ = false, client_gone_ = false;
  bool reading_ = false, full_ = false;  // the client accepts no more data for now
  bool input_ended_ = false, input_closed_ = false;
  bool active_ = true;  // since the last check
  runtime::timer late_, unanswered_, idle_;
};

}  // namespace troupe::server
