// The standard streams of a container, both ends: the shim's and the container's. Created in the
// shim before it forks; each process that inherits them closes the ends it does not use.
//
// Without a terminal they are pipes, and the input is /dev/null unless the spec has `open_stdin`.
// The container's process creates its terminal itself, in its own /dev and user namespace, so that
// it has a name there, and sends the master side to the shim over a socket. With a terminal there
// is a single stream: all output is standard output. (runc does the same.)
#pragma once

#include <string>
#include <tl/expected.hpp>

#include "actors/kubelet/runtimes/process/container_dir.hpp"
#include "runtime/unique_fd.hpp"

namespace troupe::actors {

class container_streams {
 public:
  // Errors of the system are reported by `become_standard`.
  explicit container_streams(const container_spec& spec);

  // -- in the container's process -----------------------------------------------------------------

  // Makes the streams descriptors 0, 1 and 2, and the terminal the controlling one of this session,
  // whose leader the process is. take_identity makes the user their owner.
  tl::expected<void, std::string> become_standard();

  // -- in others ----------------------------------------------------------------------------------

  // In the shim, after the fork of the container's process.
  void close_theirs();
  // In the shim, once it runs; returns false if the spec asks for a terminal but none arrived.
  bool take_terminal();
  // In the init process, which uses none of them.
  void close_all();

  // -- the shim's ends ----------------------------------------------------------------------------

  // The container's output; a terminal that all processes have closed reads as EIO.
  runtime::unique_fd output, error;
  runtime::unique_fd input;     // non-blocking; absent without `open_stdin`
  runtime::unique_fd terminal;  // for resizing; absent without `tty`

 private:
  tl::expected<void, std::string> make_terminal();

  const bool open_stdin_, tty_;
  runtime::unique_fd their_input_, their_output_, their_error_;
  runtime::unique_fd console_, their_console_;  // socket over which the terminal is sent
};

}  // namespace troupe::actors
