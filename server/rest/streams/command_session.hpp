// A command in a container, or the container's own process, with the client that is connected with
// it: bytes go both ways as fast as the slower side takes them. Ends with the command. When the
// client leaves, the command hears the end of its input, and is ended if it has not ended
// `defaults::stream_farewell` later.
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
  std::string container_id;  // as the pod's status has it
  // Without a command: the container's own process.
  actors::exec_request request;
  command_channels channels;
};

class command_session : public runtime::actor {
 public:
  // The request asks for streams (wants_streams).
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
  std::string input_;        // not yet given to the command
  std::size_t writing_ = 0;  // bytes that are being given to it
  std::optional<terminal_size> size_;
  bool asked_ = false, finished_ = false, client_gone_ = false;
  bool reading_ = false, full_ = false;  // the client takes no more for now
  bool input_ended_ = false, input_closed_ = false;
  bool active_ = true;  // since the last look
  runtime::timer late_, unanswered_, idle_;
};

}  // namespace troupe::server
