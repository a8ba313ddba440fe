#include "support/fake_streams.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace troupe::test {

using namespace actors;

namespace {

class exec_handle final : public exec_stream {
 public:
  explicit exec_handle(std::shared_ptr<fake_command> command) : command_{std::move(command)} {}
  ~exec_handle() override { command_->close(); }

  void read(std::function<void(exec_part)> done) override { command_->read(std::move(done)); }
  void write(std::string bytes, std::function<void(bool)> done) override {
    command_->write(std::move(bytes), std::move(done));
  }
  void close_input() override { command_->close_input(); }
  void resize(int rows, int columns) override { command_->resize(rows, columns); }

 private:
  const std::shared_ptr<fake_command> command_;
};

class port_handle final : public port_stream {
 public:
  explicit port_handle(std::shared_ptr<fake_command> command) : command_{std::move(command)} {}
  ~port_handle() override { command_->close(); }

  void read(std::function<void(std::string)> done) override {
    command_->read([done = std::move(done)](exec_part part) {
      done(part.from == exec_part::kind::ended ? std::string{} : std::move(part.bytes));
    });
  }
  void write(std::string bytes, std::function<void(bool)> done) override {
    command_->write(std::move(bytes), std::move(done));
  }
  void close_input() override { command_->close_input(); }

 private:
  const std::shared_ptr<fake_command> command_;
};

std::string words(const char* verb, const std::string& id, const exec_request& request) {
  auto made = fmt::format("{} {}", verb, id);
  for (const auto& each : request.command)
    made += " " + each;
  return made + (request.input ? " input" : "") + (request.tty ? " tty" : "");
}

}  // namespace

// -- a command ------------------------------------------------------------------------------------

void fake_command::say(std::string bytes, exec_part::kind from) {
  std::unique_lock lock{mutex_};
  parts_.push_back({from, std::move(bytes)});
  settle(std::move(lock));
}

void fake_command::exit(int code) {
  std::unique_lock lock{mutex_};
  code_ = code;
  settle(std::move(lock));
}

void fake_command::refuse_input() {
  std::unique_lock lock{mutex_};
  refuses_ = true;
  settle(std::move(lock));
}

std::string fake_command::take_input() {
  std::unique_lock lock{mutex_};
  auto taken = std::exchange(input_, {});
  settle(std::move(lock));
  return taken;
}

std::size_t fake_command::written() const {
  const std::lock_guard lock{mutex_};
  return written_;
}

std::size_t fake_command::read() const {
  const std::lock_guard lock{mutex_};
  return read_;
}

bool fake_command::input_ended() const {
  const std::lock_guard lock{mutex_};
  return input_ended_;
}

std::pair<int, int> fake_command::window() const {
  const std::lock_guard lock{mutex_};
  return window_;
}

bool fake_command::is_open() const {
  const std::lock_guard lock{mutex_};
  return open_;
}

void fake_command::read(std::function<void(exec_part)> done) {
  std::unique_lock lock{mutex_};
  reader_ = std::move(done);
  settle(std::move(lock));
}

void fake_command::write(std::string bytes, std::function<void(bool)> done) {
  std::unique_lock lock{mutex_};
  unwritten_ = std::move(bytes);
  writer_ = std::move(done);
  settle(std::move(lock));
}

void fake_command::close_input() {
  std::unique_lock lock{mutex_};
  input_ended_ = true;
  settle(std::move(lock));
}

void fake_command::resize(int rows, int columns) {
  const std::lock_guard lock{mutex_};
  window_ = {rows, columns};
}

void fake_command::close() {
  std::unique_lock lock{mutex_};
  open_ = false;
  const auto reader = std::exchange(reader_, {});
  const auto writer = std::exchange(writer_, {});
  lock.unlock();
}

std::optional<exec_part> fake_command::next_part() {
  if (!parts_.empty()) {
    auto part = std::move(parts_.front());
    parts_.pop_front();
    return part;
  }
  if (echo_ && !input_.empty())
    return exec_part{exec_part::kind::output, std::exchange(input_, {})};
  if (echo_ && input_ended_ && unwritten_.empty()) return exec_part{exec_part::kind::ended, {}, 0};
  if (code_) return exec_part{exec_part::kind::ended, {}, *code_};
  return std::nullopt;
}

void fake_command::settle(std::unique_lock<std::mutex> lock) {
  for (bool again = true; again;) {
    again = false;
    const auto taken = std::min(pipe_bytes - input_.size(), unwritten_.size());
    input_ += unwritten_.substr(0, taken);
    unwritten_.erase(0, taken);
    written_ += taken;
    const bool refused = refuses_ || code_;
    std::function<void(bool)> writer;
    if (writer_ && (refused || unwritten_.empty())) writer = std::exchange(writer_, {});
    std::optional<exec_part> part;
    if (reader_) part = next_part();
    std::function<void(exec_part)> reader;
    if (part) reader = std::exchange(reader_, {});
    if (part) read_ += part->bytes.size();
    lock.unlock();
    if (writer) writer(!refused);
    if (reader) reader(std::move(*part));
    lock.lock();
    again = writer || reader;
  }
}

// -- the source -----------------------------------------------------------------------------------

void fake_streams::refuse(std::optional<runtime_error> error) {
  const std::lock_guard lock{mutex_};
  error_ = std::move(error);
}

void fake_streams::hold() {
  const std::lock_guard lock{mutex_};
  held_ = true;
}

void fake_streams::release() {
  std::unique_lock lock{mutex_};
  held_ = false;
  const auto waiting = std::exchange(waiting_, {});
  lock.unlock();
  for (const auto& each : waiting)
    each();
}

std::vector<std::string> fake_streams::calls() const {
  const std::lock_guard lock{mutex_};
  return calls_;
}

std::vector<std::shared_ptr<fake_command>> fake_streams::commands() const {
  const std::lock_guard lock{mutex_};
  return commands_;
}

std::size_t fake_streams::open_commands() const {
  const auto all = commands();
  return static_cast<std::size_t>(
      std::count_if(all.begin(), all.end(), [](const auto& each) { return each->is_open(); }));
}

template <class Handle, class Stream>
void fake_streams::open(std::string call, bool echo, runtime_answer<std::unique_ptr<Stream>> done) {
  std::unique_lock lock{mutex_};
  calls_.push_back(std::move(call));
  auto answer = [this, echo, done = std::move(done)] {
    std::unique_lock inner{mutex_};
    if (error_) {
      const auto error = *error_;
      inner.unlock();
      return done(tl::make_unexpected(error));
    }
    commands_.push_back(std::make_shared<fake_command>(echo));
    auto handle = std::make_unique<Handle>(commands_.back());
    inner.unlock();
    done(std::unique_ptr<Stream>{std::move(handle)});
  };
  if (held_) return waiting_.push_back(std::move(answer));
  lock.unlock();
  answer();
}

void fake_streams::open_exec(const std::string& id, exec_request request,
                             runtime_answer<std::unique_ptr<exec_stream>> done) {
  const bool echo = !request.command.empty() && request.command.front() == "echo";
  open<exec_handle>(words("exec", id, request), echo, std::move(done));
}

void fake_streams::attach(const std::string& id, exec_request request,
                          runtime_answer<std::unique_ptr<exec_stream>> done) {
  open<exec_handle>(words("attach", id, request), false, std::move(done));
}

void fake_streams::forward_port(const std::string& pod_uid, int port,
                                runtime_answer<std::unique_ptr<port_stream>> done) {
  open<port_handle>(fmt::format("port {} {}", pod_uid, port), true, std::move(done));
}

}  // namespace troupe::test
