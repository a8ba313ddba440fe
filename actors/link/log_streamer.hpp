// Reads one container's log for a reader, here or behind the link, and sends it in parts, within
// the credit. A child actor of the requester; ends with the log, or when the requester stops it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "actors/kubelet/runtime/streams.hpp"
#include "actors/link/node_requests.hpp"
#include "runtime/actor.hpp"

namespace troupe::actors {

struct log_request {
  std::uint64_t id = 0;
  log_address from;
  log_query query;
  bool follow = false;
  std::uint32_t credit = 0;
};

class log_streamer : public runtime::actor {
 public:
  // Sends `log_part` messages to `receiver`.
  log_streamer(log_request request, const std::shared_ptr<log_source>& source,
               runtime::actor_ref receiver);

  const runtime::behavior& make_behavior() const override;
  void started() override;
  std::string describe() const override;

 private:
  struct part_read {
    log_text part;
    bool last = false;  // the container had ended before this read
  };

  void on_more_log(const more_log& m);
  void on_finish_log(const finish_log&);
  void on_part_read(const part_read& m);
  void read();
  void end(std::string problem);

  const log_request request_;
  const runtime::actor_ref receiver_;
  const std::unique_ptr<log_stream> stream_;
  std::uint32_t credit_;
  bool reading_ = false, finish_ = false, begun_ = false;
  runtime::timer again_;
};

}  // namespace troupe::actors
