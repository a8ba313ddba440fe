// Reads one container's log for a reader behind the link, and tells it in parts as far as the
// credit goes. A child of the gateway; ends with the log, or when the gateway stops it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "actors/kubelet/log_reader.hpp"
#include "actors/link/asks.hpp"
#include "runtime/actor.hpp"
#include "runtime/worker_pool.hpp"

namespace troupe::actors {

struct told_log {
  std::uint64_t ask = 0;
  std::string file;
  log_query query;
  bool follow = false;
  std::uint32_t credit = 0;
};

class log_teller : public runtime::actor {
 public:
  // Tells `to` log_part messages.
  log_teller(told_log what, std::shared_ptr<runtime::worker_pool> disk, runtime::actor_ref to);

  const runtime::behavior& make_behavior() const override;
  void started() override;
  std::string describe() const override;

 private:
  struct part_read {
    std::string text;
    bool missing = false;  // there is no such file
    bool last = false;     // the container had ended before the part was read
  };

  void on_more_log(const more_log& m);
  void on_finish_log(const finish_log&);
  void on_part_read(const part_read& m);
  void read();
  void end(std::string problem);

  const told_log what_;
  const std::shared_ptr<runtime::worker_pool> disk_;
  const runtime::actor_ref to_;
  const std::shared_ptr<log_reader> reader_;
  std::uint32_t credit_;
  bool reading_ = false, finish_ = false, begun_ = false;
  runtime::timer again_;
};

}  // namespace troupe::actors
