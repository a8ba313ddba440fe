// The main loop of a shim: it copies the container's output to the log and to attached clients,
// and their input to the container, until the container's process has ended and its output is
// drained. Only the log limits the speed (log_rate_limit.hpp): attached clients never block the
// container.
#pragma once

#include <sys/types.h>

#include <array>
#include <string>
#include <vector>

#include "actors/kubelet/logs/log_rate_limit.hpp"
#include "actors/kubelet/logs/log_writer.hpp"
#include "actors/kubelet/runtimes/process/streams/attach_server.hpp"
#include "runtime/unique_fd.hpp"

namespace troupe::actors {

class shim_pump {
 public:
  // `log`: the path of the log file.
  shim_pump(runtime::unique_fd output, runtime::unique_fd error, const std::string& log,
            const log_limits& limits, attach_server& attached);

  // `signals`: a signalfd of SIGCHLD. Returns the wait status of `main`; reaps other children too.
  int run(pid_t main, int signals);

 private:
  bool is_open() const { return streams_[0] || streams_[1]; }
  void drain(std::size_t stream);

  attach_server& attached_;
  log_writer log_;
  log_rate_limit budget_;
  std::array<runtime::unique_fd, 2> streams_;
  std::vector<pollfd> waiting_;
  std::array<char, 16 << 10> buffer_;
};

}  // namespace troupe::actors
