// A command in a container whose streams the caller reads and writes: the basis of `kubectl exec`.
// One owner, on any thread but an actor's: `start` takes as long as starting a program, `wait` as
// long as the command, the destructor up to a second for one that does not end.
#pragma once

#include <sys/types.h>

#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "actors/kubelet/process/container_dir.hpp"
#include "runtime/unique_fd.hpp"

namespace troupe::actors {

struct exec_request {
  std::vector<std::string> command;
  bool input = false;  // it can be written to; otherwise it reads nothing
  bool tty = false;    // it has a terminal: one stream both ways, and no error stream
};

class exec_stream {
 public:
  // `program` as in process_runtime. The error says why nothing was started; that the container
  // does not run is said by the command's error stream and exit code 126.
  static tl::expected<exec_stream, std::string> start(const std::string& program,
                                                      const container_dir& dir,
                                                      const exec_request& request);
  // Ends the command and all that is in its session.
  ~exec_stream();
  exec_stream(exec_stream&& other) noexcept;
  exec_stream& operator=(exec_stream&&) = delete;

  // Descriptors, all non-blocking, owned by this; -1 where there is none. A terminal that all have
  // left reads as EIO, which is its end.
  int input() const noexcept { return tty_ ? output_.get() : input_.get(); }
  int output() const noexcept { return output_.get(); }
  int error() const noexcept { return error_.get(); }
  // Can be read when the command has ended.
  int process() const noexcept { return process_.get(); }

  // The end of the input; a terminal is told by its end-of-file character.
  void close_input();
  // False without a terminal.
  bool resize(int rows, int columns);
  // Waits for the end. 128 + signal where it was ended by one.
  int wait();

 private:
  exec_stream() = default;
  runtime::unique_fd input_, output_, error_, process_;
  pid_t pid_ = 0;  // 0: reaped
  bool tty_ = false;
};

}  // namespace troupe::actors
