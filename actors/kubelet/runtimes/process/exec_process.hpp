// The process of a command in a container, with the ends of its streams (command_stream.hpp). One
// owner, on any thread but an actor's: `start` blocks while a program starts, `wait` until the
// command exits, the destructor up to a second if the command does not exit.
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
  // `program` as in process_runtime. The error says why no process was started; if the container
  // does not run, the command's error stream and exit code 126 say so.
  static tl::expected<exec_process, std::string> start(const std::string& program,
                                                       const container_dir& dir,
                                                       const exec_request& request);
  // Kills the command and all processes of its session.
  ~exec_process();
  exec_process(exec_process&& other) noexcept;
  exec_process& operator=(exec_process&&) = delete;

  // Non-blocking descriptors owned by this object; -1 if there is none. EIO on a terminal that all
  // processes have closed is its end.
  int input() const noexcept { return input_.get(); }
  int output() const noexcept { return output_.get(); }
  int error() const noexcept { return error_.get(); }
  // Becomes readable when the command has exited.
  int process() const noexcept { return process_.get(); }

  // Ends the input; on a terminal by its end-of-file character.
  void close_input();
  // Returns false without a terminal.
  bool resize(int rows, int columns);
  // SIGTERM ends the command and all processes of its session; SIGKILL if that does not help.
  void signal(int number) const;
  // Waits for the exit and returns its code, 128 + signal if a signal ended the command.
  int wait();

 private:
  exec_process() = default;
  runtime::unique_fd input_, output_, error_, process_;
  pid_t pid_ = 0;  // 0: reaped
  bool tty_ = false;
};

}  // namespace troupe::actors
