#include "actors/kubelet/os/duplex_socket.hpp"

#include <fcntl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

namespace troupe::actors {

duplex_socket::duplex_socket(std::shared_ptr<event_loop> loop, runtime::unique_fd socket,
                             std::size_t part_bytes)
    : loop_{std::move(loop)},
      part_bytes_{part_bytes},
      in_{std::move(socket)},
      out_{::fcntl(in_.get(), F_DUPFD_CLOEXEC, 0)},
      broken_{!out_} {}

void duplex_socket::read(std::function<void(std::string)> done) {
  reader_ = std::move(done);
  pull();
}

void duplex_socket::write(std::deque<std::string> parts, std::function<void(bool)> done) {
  parts_ = std::move(parts);
  writer_ = std::move(done);
  push();
}

void duplex_socket::cancel_write() {
  parts_.clear();
  end_write(false);
}

void duplex_socket::send_first(std::string packet) {
  const auto same = std::find_if(first_.begin(), first_.end(), [&](const auto& waiting) {
    return waiting.front() == packet.front();
  });
  if (same != first_.end())
    *same = std::move(packet);
  else
    first_.push_back(std::move(packet));
  push();
}

void duplex_socket::shut_output() {
  if (in_) ::shutdown(in_.get(), SHUT_WR);
  cancel_write();
}

void duplex_socket::close() {
  reader_ = {};
  writer_ = {};
  for (auto* end : {&in_, &out_}) {
    if (!*end) continue;
    loop_->forget(end->get());
    end->reset();
  }
}

void duplex_socket::pull() {
  if (!reader_) return;
  // One buffer per thread, so that a small part does not keep a large buffer.
  thread_local std::vector<char> buffer;
  if (buffer.size() < part_bytes_) buffer.resize(part_bytes_);
  ssize_t n = -1;
  // A packet socket reports a reset once, and then the packets sent before it.
  do
    n = ::recv(in_.get(), buffer.data(), part_bytes_, 0);
  while (n < 0 && (errno == EINTR || (errno == ECONNRESET && !std::exchange(was_reset_, true))));
  if (n < 0 && errno == EAGAIN)
    return loop_->wait(in_.get(), event_loop::readiness::input,
                       [self = shared_from_this()] { self->pull(); });
  std::exchange(reader_, {})({buffer.data(), n > 0 ? static_cast<std::size_t>(n) : 0});
}

std::string* duplex_socket::next_part() {
  if (!first_.empty()) return &first_.front();
  return parts_.empty() ? nullptr : &parts_.front();
}

void duplex_socket::push() {
  while (auto* part = broken_ || !out_ ? nullptr : next_part()) {
    const auto n = ::send(out_.get(), part->data(), part->size(), MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN)
      return loop_->wait(out_.get(), event_loop::readiness::output,
                         [self = shared_from_this()] { self->push(); });
    if (n < 0)
      broken_ = true;
    else if (static_cast<std::size_t>(n) < part->size())
      part->erase(0, static_cast<std::size_t>(n));
    else
      (first_.empty() ? parts_ : first_).pop_front();
  }
  end_write(!broken_);
}

void duplex_socket::end_write(bool well) {
  parts_.clear();
  if (writer_) std::exchange(writer_, {})(well);
}

}  // namespace troupe::actors
