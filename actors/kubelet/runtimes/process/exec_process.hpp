// The process of a command in a container, with the ends of its streams (command_stream.hpp).
// One owner, on any thread but an actor's: `start` takes as long as starting a program, `wait` as
// long as the command, the destructor up to a second for one that does not end.
#pragma once

#include <sys/types.h>

#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "actors/kubelet/runtime/streams.hpp"
#include "actors/kubelet/runtimes/process/container_dir.hpp"
#include "runtime/unique_fd.hpp"

namespace troupe::actors {

class exec_process {
 public:
  // `program` as in process_runtime. The error says why nothing was started; that the container
  // does not run is said by the command's error stream and exit code 126.
  static tl::expected<exec_process, std::string> start(const std::string& program,
                                                       const container_dir& dir,
                                                       const exec_request& request);
  // Ends the command and all that is in its session.
  ~exec_process();
  exec_process(exec_process&& other) noexcept;
  exec_process& operator=(exec_process&&) = delete;

  // Descriptors, all non-blocking, owned by this; -1 where there is none. A terminal that all have
  // left reads as EIO, which is its end.
  int input() const noexcept { return input_.get(); }
  int output() const noexcept { return output_.get(); }
  int error() const noexcept { return error_.get(); }
  // Can be read when the command has ended.
  int process() const noexcept { return process_.get(); }

  // The end of the input; a terminal is told by its end-of-file character.
  void close_input();
  // False without a terminal.
  bool resize(int rows, int columns);
  // SIGTERM ends the command and all that is in its session; SIGKILL where that does not help.
  void signal(int number) const;
  // Waits for the end. 128 + signal where it was ended by one.
  int wait();

 private:
  exec_process() = default;
  runtime::unique_fd input_, output_, error_, process_;
  pid_t pid_ = 0;  // 0: reaped
  bool tty_ = false;
};

}  // namespace troupe::actors
