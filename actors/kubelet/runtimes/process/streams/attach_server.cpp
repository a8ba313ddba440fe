#include "actors/kubelet/runtimes/process/streams/attach_server.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <chrono>

#include "actors/kubelet/defaults.hpp"
#include "actors/kubelet/runtimes/process/streams/defaults.hpp"

namespace troupe::actors {

namespace {

// Memory of a queued packet, in addition to its bytes.
constexpr std::size_t packet_overhead = 64;
constexpr char end_of_file = 4;
// Packets read from one attachment in a row, before the others get their turn.
constexpr int packets_at_once = 16;

runtime::unique_fd listen_in(const std::string& directory) {
  const runtime::unique_fd folder{::open(directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)};
  runtime::unique_fd listener{::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
  if (!folder || !listener) return {};
  const auto address = attach_address(folder.get());
  ::unlink(address.sun_path);
  // Set before bind, so that the socket is never accessible to others.
  if (::fchmod(listener.get(), 0600) != 0 ||
      ::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(listener.get(), static_cast<int>(process_defaults::attach_limit)) != 0)
    return {};
  return listener;
}

bool send_to(int socket, const std::string& packet) {
  ssize_t n = -1;
  do
    n = ::send(socket, packet.data(), packet.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  while (n < 0 && errno == EINTR);
  return n >= 0;
}

}  // namespace

attach_server::attach_server(const std::string& directory, container to)
    : to_{std::move(to)}, takes_input_{to_.input}, listener_{listen_in(directory)} {}

void attach_server::watch(std::vector<pollfd>& all) const {
  const bool input_waits = std::any_of(all_.begin(), all_.end(),
                                       [](const auto& each) { return !each.unwritten.empty(); });
  all.push_back({listener_.get(), POLLIN, 0});
  all.push_back({input_waits ? to_.input.get() : -1, POLLOUT, 0});
  const auto end = first_ + backlog_.size();
  for (const auto& each : all_) {
    int events = each.listens && each.unwritten.empty() ? POLLIN : 0;
    if (each.joined && each.next < end) events |= POLLOUT;
    const bool known = each.gone && !each.unwritten.empty();
    all.push_back({known ? -1 : each.socket.get(), static_cast<short>(events), 0});
  }
}

void attach_server::serve(std::span<const pollfd> seen) {
  const bool has_callers = seen[0].revents != 0, input_ready = seen[1].revents != 0;
  std::size_t at = 2;
  for (auto one = all_.begin(); one != all_.end();) {
    const auto each = one++;
    if (input_ready && !each->unwritten.empty()) write_input(*each);
    if (!look_at(*each, seen[at++].revents)) leave(each);
  }
  // The next attachment writes first, the next time.
  if (input_ready && !all_.empty()) all_.splice(all_.end(), all_, all_.begin());
  trim();
  if (has_callers) admit();
}

// Returns false if the attachment has ended.
bool attach_server::look_at(attachment& each, short events) {
  if ((events & POLLOUT) != 0) send_backlog(each);
  if ((events & (POLLHUP | POLLERR)) != 0) each.gone = true;
  if (!each.listens) return !each.gone;
  int left = packets_at_once;
  while (each.listens && each.unwritten.empty() && (each.gone || left-- > 0))
    if (!receive(each)) break;
  return bool{each.socket};
}

// -- attach and detach ----------------------------------------------------------------------------

void attach_server::admit() {
  runtime::unique_fd caller{::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC)};
  if (!caller) return;
  if (all_.size() >= process_defaults::attach_limit && !make_room()) {
    send_to(caller.get(),
            make_packet(attach_packet::refused, "too many clients are attached to the container"));
    return;
  }
  all_.push_back({std::move(caller)});
  if (!receive(all_.back()) && !all_.back().socket) all_.pop_back();
}

bool attach_server::make_room() {
  const auto found = std::find_if(all_.begin(), all_.end(),
                                  [](const auto& each) { return each.gone || !each.joined; });
  if (found == all_.end()) return false;
  leave(found);
  return true;
}

void attach_server::leave(attachments::iterator one) {
  const bool ends_input = one->has_input && to_.once;
  all_.erase(one);
  if (ends_input) end_input();
}

bool attach_server::join(attachment& from, std::string_view flags) {
  const auto number = packet_number(flags);
  if (!number || from.joined) return false;
  from.joined = true;
  from.has_input = (*number & attach_with_input) != 0;
  from.next = first_ + backlog_.size();
  const int given =
      (takes_input_ ? attach_with_input : 0) | (to_.terminal ? attach_with_terminal : 0);
  return send_to(from.socket.get(), make_packet(attach_packet::joined, std::to_string(given)));
}

// -- input of clients -----------------------------------------------------------------------------

// Returns false if there is no packet now, or, with the socket closed, no more packets.
bool attach_server::receive(attachment& from) {
  char packet[kubelet_defaults::exec_part_bytes + 1];
  iovec space{packet, sizeof packet};
  msghdr message{};
  message.msg_iov = &space;
  message.msg_iovlen = 1;
  ssize_t n = -1;
  do
    n = ::recvmsg(from.socket.get(), &message, MSG_DONTWAIT);
  // The socket reports a reset once, before the packets that were sent before it.
  while (n < 0 && (errno == EINTR || errno == ECONNRESET));
  if (n < 0 && errno == EAGAIN) return false;
  const bool whole = n > 0 && (message.msg_flags & MSG_TRUNC) == 0;
  if (whole && take(from, {packet, static_cast<std::size_t>(n)})) return true;
  from.socket.reset();
  return false;
}

// Returns false on a protocol error.
bool attach_server::take(attachment& from, std::string_view packet) {
  const auto kind = static_cast<attach_packet>(packet.front());
  packet.remove_prefix(1);
  if (kind == attach_packet::open) return join(from, packet);
  if (!from.joined) return false;
  switch (kind) {
    case attach_packet::input:
      if (!from.has_input) return false;
      if (!takes_input_) return true;
      from.unwritten = packet;
      write_input(from);
      return true;
    case attach_packet::end_of_input:
      if (from.has_input && to_.once) end_input();
      return from.has_input;
    case attach_packet::size:
      return resize(packet);
    default:
      return false;
  }
}

bool attach_server::resize(std::string_view content) {
  const auto size = packet_size(content);
  if (!size) return false;
  winsize window{};
  window.ws_row = static_cast<unsigned short>(size->first);
  window.ws_col = static_cast<unsigned short>(size->second);
  if (to_.terminal) ::ioctl(to_.terminal.get(), TIOCSWINSZ, &window);
  return true;
}

void attach_server::write_input(attachment& from) {
  while (!from.unwritten.empty()) {
    const auto n = ::write(to_.input.get(), from.unwritten.data(), from.unwritten.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) return;
    if (n < 0) return end_input();
    from.unwritten.erase(0, static_cast<std::size_t>(n));
  }
}

// The container no longer takes input. With a terminal the clients' side stays open: it also
// carries the terminal's size.
void attach_server::end_input() {
  if (!std::exchange(takes_input_, false)) return;
  for (auto& each : all_)
    each.unwritten.clear();
  if (to_.terminal) {
    static_cast<void>(!::write(to_.input.get(), &end_of_file, 1));
    return;
  }
  to_.input.reset();
  for (auto& each : all_)
    if (each.has_input && each.socket) each.listens = ::shutdown(each.socket.get(), SHUT_RD) != 0;
}

// -- output to clients ----------------------------------------------------------------------------

void attach_server::publish(attach_packet stream, std::string_view bytes) {
  const bool anyone = std::any_of(all_.begin(), all_.end(),
                                  [](const auto& each) { return each.joined && !each.gone; });
  if (!anyone) return;
  backlog_.push_back(make_packet(stream, bytes));
  backlog_bytes_ += bytes.size() + packet_overhead;
  for (auto& each : all_)
    send_backlog(each);
  trim();
}

void attach_server::send_backlog(attachment& to) {
  if (!to.joined || to.gone) return;
  const auto end = first_ + backlog_.size();
  for (; to.next < end; ++to.next)
    if (!send_to(to.socket.get(), backlog_[to.next - first_])) {
      to.gone = errno != EAGAIN && errno != ENOBUFS;
      return;
    }
}

// Drops packets that all clients have read, then clients that are too far behind.
void attach_server::trim() {
  for (;;) {
    auto oldest = first_ + backlog_.size();
    for (const auto& each : all_)
      if (each.joined && !each.gone) oldest = std::min(oldest, each.next);
    for (; first_ < oldest; ++first_) {
      backlog_bytes_ -= backlog_.front().size() - 1 + packet_overhead;
      backlog_.pop_front();
    }
    if (backlog_bytes_ <= process_defaults::attach_backlog_bytes) return;
    for (auto one = all_.begin(); one != all_.end();) {
      const auto each = one++;
      if (each->joined && !each->gone && each->next == first_) leave(each);
    }
  }
}

void attach_server::end(int code) {
  publish(attach_packet::ended, std::to_string(code));
  listener_.reset();
}

void attach_server::drain() {
  const auto deadline = std::chrono::steady_clock::now() + process_defaults::attach_drain_limit;
  while (is_behind()) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) return;
    std::vector<pollfd> waiting;
    for (auto& each : all_)
      if (each.joined && !each.gone && each.next < first_ + backlog_.size())
        waiting.push_back({each.socket.get(), POLLOUT, 0});
    if (::poll(waiting.data(), waiting.size(), static_cast<int>(left.count())) <= 0) return;
    for (auto& each : all_)
      send_backlog(each);
    trim();
  }
}

}  // namespace troupe::actors
