// The standard streams of a container, both ends: the shim's and those of the container's process.
// Made in the shim, before it forks; every process that inherits it keeps what it needs of it.
//
// Without a terminal they are pipes, and the input /dev/null unless the spec has `open_stdin`. A
// terminal is made by the container's process itself, in its own /dev and user namespace, so that
// it has a name there; its other side comes back to the shim over a socket. One stream then: what
// is written to either is output. (runc does the same.)
#pragma once

#include <string>
#include <tl/expected.hpp>

#include "actors/kubelet/runtimes/process/container_dir.hpp"
#include "runtime/unique_fd.hpp"

namespace troupe::actors {

class container_streams {
 public:
  // What the system refuses is found out by `become_standard`.
  explicit container_streams(const container_spec& spec);

  // -- in the container's process -----------------------------------------------------------------

  // Makes them the descriptors 0, 1 and 2, and the terminal that of this session, which it leads.
  // The user is given them by take_identity.
  tl::expected<void, std::string> become_standard();

  // -- in others ----------------------------------------------------------------------------------

  // In the shim, once the container's process has been forked.
  void close_theirs();
  // In the shim, once it runs: false where there is no terminal though there should be one.
  bool take_terminal();
  // In the init, which has no use for them.
  void close_all();

  // -- the shim's ends ----------------------------------------------------------------------------

  // What the container writes; a terminal that all have left reads as EIO.
  runtime::unique_fd output, error;
  runtime::unique_fd input;     // non-blocking; absent without `open_stdin`
  runtime::unique_fd terminal;  // to be resized; absent without `tty`

 private:
  tl::expected<void, std::string> make_terminal();

  const bool open_stdin_, tty_;
  runtime::unique_fd their_input_, their_output_, their_error_;
  runtime::unique_fd console_, their_console_;  // a socket that the terminal comes by
};

}  // namespace troupe::actors
