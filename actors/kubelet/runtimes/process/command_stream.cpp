#include "actors/kubelet/runtimes/process/command_stream.hpp"

#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>

#include "actors/kubelet/defaults.hpp"

namespace troupe::actors {

namespace {

using milliseconds = std::chrono::milliseconds;

// Its functions are called on the loop's thread; a pending wait of the loop keeps it alive.
class running_command : public std::enable_shared_from_this<running_command> {
 public:
  running_command(std::shared_ptr<event_loop> loop, exec_process process)
      : loop_{std::move(loop)}, process_{std::move(process)} {}

  void read(std::function<void(exec_part)> done) {
    reader_ = std::move(done);
    pump();
  }

  void write(std::string bytes, std::function<void(bool)> done) {
    unwritten_ = std::move(bytes);
    writer_ = std::move(done);
    push();
  }

  void close_input() {
    if (process_.input() >= 0) loop_->forget(process_.input());
    process_.close_input();
    if (writer_) std::exchange(writer_, {})(false);
  }

  void resize(int rows, int columns) { process_.resize(rows, columns); }

  // The reader has gone: ends the command.
  void abandon() {
    reader_ = {};
    terminate();
  }

  void terminate() {
    if (code_) return;
    process_.signal(SIGTERM);
    await_end();
    loop_->after(kubelet_defaults::kill_again, [self = shared_from_this()] {
      if (!self->code_) self->process_.signal(SIGKILL);
    });
  }

 private:
  // Reads all output before the end; remaining processes may keep the streams open.
  void pump() {
    if (!reader_) return;
    if (take(process_.output(), output_open_, exec_part::kind::output) ||
        take(process_.error(), error_open_, exec_part::kind::error))
      return;
    if (code_) return std::exchange(reader_, {})({exec_part::kind::ended, {}, *code_});
    const auto again = [self = shared_from_this()] { self->pump(); };
    if (output_open_) loop_->wait(process_.output(), event_loop::readiness::input, again);
    if (error_open_ && process_.error() >= 0)
      loop_->wait(process_.error(), event_loop::readiness::input, again);
    await_end();
  }

  // Returns true if something was read and passed to the reader.
  bool take(int fd, bool& open, exec_part::kind from) {
    if (!open || fd < 0) return false;
    std::string bytes(kubelet_defaults::exec_part_bytes, '\0');
    const auto n = ::read(fd, bytes.data(), bytes.size());
    if (n <= 0) {
      open = n < 0 && (errno == EAGAIN || errno == EINTR);
      return false;
    }
    bytes.resize(static_cast<std::size_t>(n));
    std::exchange(reader_, {})({from, std::move(bytes)});
    return true;
  }

  void await_end() {
    loop_->wait(process_.process(), event_loop::readiness::input, [self = shared_from_this()] {
      if (!self->code_) self->code_ = self->process_.wait();
      self->pump();
    });
  }

  void push() {
    if (!writer_) return;
    while (!unwritten_.empty()) {
      const auto n = ::write(process_.input(), unwritten_.data(), unwritten_.size());
      if (n < 0 && errno == EAGAIN)
        return loop_->wait(process_.input(), event_loop::readiness::output,
                           [self = shared_from_this()] { self->push(); });
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) break;
      unwritten_.erase(0, static_cast<std::size_t>(n));
    }
    std::exchange(writer_, {})(unwritten_.empty());
  }

  const std::shared_ptr<event_loop> loop_;
  exec_process process_;
  bool output_open_ = true, error_open_ = true;
  std::optional<int> code_;  // set when the command has ended
  std::function<void(exec_part)> reader_;
  std::string unwritten_;
  std::function<void(bool)> writer_;
};

class command_stream final : public exec_stream {
 public:
  command_stream(std::shared_ptr<event_loop> loop, exec_process process)
      : loop_{loop}, command_{std::make_shared<running_command>(loop, std::move(process))} {}
  ~command_stream() override {
    loop_->defer([command = std::move(command_)] { command->abandon(); });
  }

  void read(std::function<void(exec_part)> done) override {
    loop_->defer(
        [command = command_, done = std::move(done)]() mutable { command->read(std::move(done)); });
  }
  void write(std::string bytes, std::function<void(bool)> done) override {
    loop_->defer([command = command_, bytes = std::move(bytes), done = std::move(done)]() mutable {
      command->write(std::move(bytes), std::move(done));
    });
  }
  void close_input() override {
    loop_->defer([command = command_] { command->close_input(); });
  }
  void resize(int rows, int columns) override {
    loop_->defer([command = command_, rows, columns] { command->resize(rows, columns); });
  }

 private:
  const std::shared_ptr<event_loop> loop_;
  std::shared_ptr<running_command> command_;
};

// A command whose end somebody waits for.
struct awaited_command : std::enable_shared_from_this<awaited_command> {
  std::shared_ptr<event_loop> loop;
  std::shared_ptr<running_command> command;
  std::function<void(command_result)> done;
  command_result result;
  event_loop::moment deadline;

  // Queued behind other work of the loop: a command that writes without end blocks nobody.
  void continue_reading() {
    loop->defer([self = shared_from_this()] {
      self->command->read([self](exec_part part) { self->take(std::move(part)); });
    });
  }

  void take(exec_part part) {
    if (part.from != exec_part::kind::ended) {
      const auto room = kubelet_defaults::check_output_bytes - result.output.size();
      result.output.append(part.bytes, 0, std::min(part.bytes.size(), room));
      return continue_reading();
    }
    loop->cancel(deadline);
    result.code = part.code;
    done(std::move(result));
  }
};

}  // namespace

std::unique_ptr<exec_stream> stream_command(std::shared_ptr<event_loop> loop,
                                            exec_process process) {
  return std::make_unique<command_stream>(std::move(loop), std::move(process));
}

void await_command(std::shared_ptr<event_loop> loop, exec_process process,
                   runtime::duration timeout, std::function<void(command_result)> done) {
  const auto awaited = std::make_shared<awaited_command>();
  awaited->loop = loop;
  awaited->command = std::make_shared<running_command>(loop, std::move(process));
  awaited->done = std::move(done);
  awaited->deadline = loop->after(std::chrono::ceil<milliseconds>(timeout), [awaited] {
    awaited->result.timed_out = true;
    awaited->command->terminate();
  });
  awaited->continue_reading();
}

}  // namespace troupe::actors
