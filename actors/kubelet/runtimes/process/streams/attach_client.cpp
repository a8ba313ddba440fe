#include "actors/kubelet/runtimes/process/streams/attach_client.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "actors/kubelet/defaults.hpp"
#include "actors/kubelet/os/duplex_socket.hpp"
#include "actors/kubelet/runtimes/process/streams/attach_packets.hpp"
#include "actors/kubelet/runtimes/process/streams/defaults.hpp"

namespace troupe::actors {

namespace {

using answer = runtime_answer<std::unique_ptr<exec_stream>>;
using error_kind = runtime_error::kind;

std::string not_running(const std::string& name) {
  return fmt::format("container {} is not running", name);
}

// Returns nothing if the connection has ended.
std::optional<attach_packet> kind_of(std::string_view packet) {
  if (packet.empty()) return std::nullopt;
  return static_cast<attach_packet>(packet.front());
}

// Belongs to the loop's thread.
class attachment : public std::enable_shared_from_this<attachment> {
 public:
  attachment(std::shared_ptr<event_loop> loop, std::shared_ptr<duplex_socket> socket,
             attach_target target, bool takes_input, bool has_terminal)
      : loop_{std::move(loop)},
        socket_{std::move(socket)},
        target_{std::move(target)},
        takes_input_{takes_input},
        has_terminal_{has_terminal} {}

  void read(std::function<void(exec_part)> done) {
    if (code_) return done({exec_part::kind::ended, {}, *code_});
    socket_->read([self = shared_from_this(), done = std::move(done)](std::string packet) {
      self->take(std::move(packet), done);
    });
  }

  void write(const std::string& bytes, std::function<void(bool)> done) {
    if (!takes_input_) return done(false);
    std::deque<std::string> packets;
    for (std::size_t at = 0; at < bytes.size(); at += kubelet_defaults::exec_part_bytes)
      packets.push_back(
          make_packet(attach_packet::input,
                      std::string_view{bytes}.substr(at, kubelet_defaults::exec_part_bytes)));
    socket_->write(std::move(packets), std::move(done));
  }

  void close_input() {
    if (!std::exchange(takes_input_, false)) return;
    socket_->cancel_write();
    socket_->send_first(make_packet(attach_packet::end_of_input));
  }

  void resize(int rows, int columns) {
    if (has_terminal_)
      socket_->send_first(make_packet(attach_packet::size, fmt::format("{} {}", rows, columns)));
  }

  void close() {
    closed_ = true;
    socket_->close();
  }

 private:
  void take(std::string packet, const std::function<void(exec_part)>& done) {
    const auto kind = kind_of(packet);
    packet.erase(0, 1);
    if (kind == attach_packet::output) return done({exec_part::kind::output, std::move(packet)});
    if (kind == attach_packet::error) return done({exec_part::kind::error, std::move(packet)});
    if (kind == attach_packet::ended) code_ = packet_number(packet);
    find_end(done, process_defaults::attach_checks);
  }

  // A killed shim loses its sockets shortly before its process is gone: retry.
  void find_end(const std::function<void(exec_part)>& done, int checks_left) {
    if (closed_) return;
    if (!code_) code_ = target_.code_of_end();
    if (code_) return done({exec_part::kind::ended, {}, *code_});
    if (checks_left > 0) {
      loop_->after(process_defaults::start_check_delay,
                   [self = shared_from_this(), done, checks_left] {
                     self->find_end(done, checks_left - 1);
                   });
      return;
    }
    code_ = attach_cut_off;
    done({has_terminal_ ? exec_part::kind::output : exec_part::kind::error,
          fmt::format("cut off from container {}: its output was not read fast enough\n",
                      target_.name)});
  }

  const std::shared_ptr<event_loop> loop_;
  const std::shared_ptr<duplex_socket> socket_;
  const attach_target target_;
  bool takes_input_;
  const bool has_terminal_;
  bool closed_ = false;
  std::optional<int> code_;  // set when the container has ended
};

class attach_stream final : public exec_stream {
 public:
  attach_stream(std::shared_ptr<event_loop> loop, std::shared_ptr<attachment> attached)
      : loop_{std::move(loop)}, attached_{std::move(attached)} {}
  ~attach_stream() override {
    loop_->defer([attached = std::move(attached_)] { attached->close(); });
  }

  void read(std::function<void(exec_part)> done) override {
    loop_->defer([attached = attached_, done = std::move(done)]() mutable {
      attached->read(std::move(done));
    });
  }
  void write(std::string bytes, std::function<void(bool)> done) override {
    loop_->defer([attached = attached_, bytes = std::move(bytes),
                  done = std::move(done)]() mutable { attached->write(bytes, std::move(done)); });
  }
  void close_input() override {
    loop_->defer([attached = attached_] { attached->close_input(); });
  }
  void resize(int rows, int columns) override {
    loop_->defer([attached = attached_, rows, columns] { attached->resize(rows, columns); });
  }

 private:
  const std::shared_ptr<event_loop> loop_;
  std::shared_ptr<attachment> attached_;
};

// A connection that waits for the shim's answer to `open`.
class joining : public std::enable_shared_from_this<joining> {
 public:
  joining(std::shared_ptr<event_loop> loop, runtime::unique_fd socket, attach_target target,
          answer done)
      : loop_{loop},
        socket_{std::make_shared<duplex_socket>(loop, std::move(socket))},
        target_{std::move(target)},
        done_{std::move(done)} {}

  void start(bool with_input) {
    deadline_ = loop_->after(process_defaults::attach_timeout, [self = shared_from_this()] {
      self->fail(error_kind::failed,
                 fmt::format("the shim of container {} does not answer", self->target_.name));
    });
    socket_->send_first(
        make_packet(attach_packet::open, std::to_string(with_input ? attach_with_input : 0)));
    socket_->read([self = shared_from_this(), with_input](const std::string& packet) {
      self->take(packet, with_input);
    });
  }

 private:
  void take(std::string_view packet, bool with_input) {
    const auto kind = kind_of(packet);
    packet.remove_prefix(std::min<std::size_t>(packet.size(), 1));
    const auto flags = kind == attach_packet::joined ? packet_number(packet) : std::nullopt;
    if (kind == attach_packet::refused)
      return fail(error_kind::failed,
                  fmt::format("cannot attach to container {}: {}", target_.name, packet));
    if (!flags) return fail(error_kind::not_found, not_running(target_.name));
    loop_->cancel(deadline_);
    const auto attached = std::make_shared<attachment>(
        loop_, socket_, std::move(target_), with_input && (*flags & attach_with_input) != 0,
        (*flags & attach_with_terminal) != 0);
    std::exchange(done_, {})(std::make_unique<attach_stream>(loop_, attached));
  }

  void fail(error_kind kind, std::string text) {
    loop_->cancel(deadline_);
    socket_->close();
    std::exchange(done_, {})(tl::make_unexpected(runtime_error{kind, std::move(text)}));
  }

  const std::shared_ptr<event_loop> loop_;
  const std::shared_ptr<duplex_socket> socket_;
  attach_target target_;
  answer done_;
  event_loop::moment deadline_;
};

}  // namespace

void open_attachment(std::shared_ptr<event_loop> loop, attach_target target,
                     const exec_request& request, answer done) {
  const auto failed = [&](error_kind kind, std::string text) {
    done(tl::make_unexpected(runtime_error{kind, std::move(text)}));
  };
  const runtime::unique_fd folder{
      ::open(target.directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)};
  runtime::unique_fd socket{::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
  const auto address = attach_address(folder.get());
  if (!folder || !socket ||
      ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    if (errno == ECONNREFUSED) return failed(error_kind::not_found, not_running(target.name));
    if (folder && errno == ENOENT)
      return failed(error_kind::failed,
                    fmt::format("container {} cannot be attached to: it was started by an earlier "
                                "version of this program",
                                target.name));
    return failed(error_kind::failed,
                  fmt::format("cannot attach to container {}: {}", target.name,
                              errno == EAGAIN ? "too many clients" : std::strerror(errno)));
  }
  loop->defer([joins = std::make_shared<joining>(loop, std::move(socket), std::move(target),
                                                 std::move(done)),
               with_input = request.input] { joins->start(with_input); });
}

}  // namespace troupe::actors
