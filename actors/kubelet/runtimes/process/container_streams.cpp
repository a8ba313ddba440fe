#include "actors/kubelet/runtimes/process/container_streams.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <termios.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace troupe::actors {

namespace {

using runtime::unique_fd;
using void_result = tl::expected<void, std::string>;

void make_pipe(unique_fd& read, unique_fd& write) {
  int fds[2];
  if (::pipe2(fds, O_CLOEXEC) != 0) return;
  read = unique_fd{fds[0]};
  write = unique_fd{fds[1]};
}

tl::unexpected<std::string> failed(const char* action) {
  return tl::make_unexpected(fmt::format("cannot {}: {}", action, std::strerror(errno)));
}

// A socket message of one byte and one descriptor.
struct descriptor_message {
  descriptor_message() {
    header.msg_iov = &content;
    header.msg_iovlen = 1;
    header.msg_control = control;
    header.msg_controllen = sizeof control;
  }
  char byte = 0;
  iovec content{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr header{};
};

bool send_descriptor(int socket, int fd) {
  descriptor_message message;
  auto* part = CMSG_FIRSTHDR(&message.header);
  part->cmsg_level = SOL_SOCKET;
  part->cmsg_type = SCM_RIGHTS;
  part->cmsg_len = CMSG_LEN(sizeof fd);
  std::memcpy(CMSG_DATA(part), &fd, sizeof fd);
  return ::sendmsg(socket, &message.header, MSG_NOSIGNAL) == 1;
}

unique_fd receive_descriptor(int socket) {
  descriptor_message message;
  if (::recvmsg(socket, &message.header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) != 1) return {};
  const auto* part = CMSG_FIRSTHDR(&message.header);
  if (part == nullptr || part->cmsg_type != SCM_RIGHTS) return {};
  int fd = -1;
  std::memcpy(&fd, CMSG_DATA(part), sizeof fd);
  return unique_fd{fd};
}

unique_fd duplicate(const unique_fd& fd) {
  return unique_fd{::fcntl(fd.get(), F_DUPFD_CLOEXEC, 0)};
}

}  // namespace

container_streams::container_streams(const container_spec& spec)
    : open_stdin_{spec.open_stdin}, tty_{spec.tty} {
  if (tty_) {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return;
    console_ = unique_fd{ends[0]};
    their_console_ = unique_fd{ends[1]};
    return;
  }
  make_pipe(output, their_output_);
  make_pipe(error, their_error_);
  if (!open_stdin_) return;
  make_pipe(their_input_, input);
  ::fcntl(input.get(), F_SETFL, O_NONBLOCK);
}

void_result container_streams::make_terminal() {
  const unique_fd ours{::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)};
  if (!ours || ::grantpt(ours.get()) != 0 || ::unlockpt(ours.get()) != 0)
    return failed("make a terminal");
  // Not opened by name, which may belong to another terminal here.
  their_input_ = unique_fd{::ioctl(ours.get(), TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC)};
  if (!their_input_) return failed("open the terminal");
  their_output_ = duplicate(their_input_);
  their_error_ = duplicate(their_input_);
  if (::ioctl(their_input_.get(), TIOCSCTTY, 0) != 0) return failed("take the terminal");
  if (!send_descriptor(their_console_.get(), ours.get())) return failed("hand over the terminal");
  return {};
}

void_result container_streams::become_standard() {
  if (tty_)
    if (auto made = make_terminal(); !made) return made;
  if (!tty_ && !open_stdin_) their_input_ = unique_fd{::open("/dev/null", O_RDONLY | O_CLOEXEC)};
  const unique_fd* const standard[] = {&their_input_, &their_output_, &their_error_};
  for (int number = 0; number < 3; ++number)
    if (::dup2(standard[number]->get(), number) < 0) return failed("set up the streams");
  return {};
}

void container_streams::close_theirs() {
  for (auto* each : {&their_input_, &their_output_, &their_error_, &their_console_})
    each->reset();
}

bool container_streams::take_terminal() {
  if (!tty_) return true;
  output = receive_descriptor(console_.get());
  console_.reset();
  if (!output) return false;
  ::fcntl(output.get(), F_SETFL, O_NONBLOCK);
  terminal = duplicate(output);
  if (open_stdin_) input = duplicate(output);
  return bool{terminal};
}

void container_streams::close_all() {
  close_theirs();
  for (auto* each : {&output, &error, &input, &console_})
    each->reset();
}

}  // namespace troupe::actors
