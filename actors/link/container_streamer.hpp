// Serves one stream into a container of this machine for the control plane: opens it, reads output
// within the credit, and writes input. A child actor of the gateway, which forwards messages in
// both directions. It ends with the stream, or when the gateway stops it: that closes the stream
// and kills the command of an exec.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "actors/kubelet/runtime/streams.hpp"
#include "actors/link/frames.pb.h"
#include "actors/link/node_requests.hpp"
#include "runtime/actor.hpp"

namespace troupe::actors {

// From the gateway: the last piece of output was sent; the next one may follow.
struct output_sent {};

class container_streamer : public runtime::actor {
 public:
  // Sends the gateway first wire::StreamOpened, then wire::StreamOutput (one, until `output_sent`),
  // wire::InputTaken and finally wire::StreamEnded, all with the number `ask`.
  container_streamer(std::uint64_t ask, stream_target target, std::uint32_t credit,
                     std::shared_ptr<stream_source> source, runtime::actor_ref gateway);

  const runtime::behavior& make_behavior() const override;
  void started() override;
  std::string describe() const override;

 private:
  struct stream_ready {
    runtime_result<std::shared_ptr<exec_stream>> result;
  };
  struct part_read {
    exec_part part;
  };
  struct input_written {
    bool well = false;
  };

  // -- from the stream
  void on_stream_ready(const stream_ready& m);
  void on_part_read(const part_read& m);
  void on_input_written(const input_written& m);
  // -- from the gateway
  void on_input(const wire::StreamInput& m);
  void on_end_input(const wire::EndInput&);
  void on_resize(const wire::ResizeStream& m);
  void on_more_output(const wire::MoreOutput& m);
  void on_output_sent(const output_sent&);

  template <class Item>
  void say(Item item);
  void read();
  void send_piece();
  void write();

  const std::uint64_t ask_;
  const stream_target target_;
  const std::shared_ptr<stream_source> source_;
  const runtime::actor_ref gateway_;
  std::shared_ptr<exec_stream> stream_;  // null until opened
  // Output.
  std::uint64_t credit_;
  exec_part part_;  // not sent yet
  bool reading_ = false, sending_ = false;
  // Input.
  std::string input_;        // not written yet; the gateway bounds it
  std::size_t writing_ = 0;  // bytes that are being written
  bool end_wanted_ = false, input_over_ = false;
};

}  // namespace troupe::actors
