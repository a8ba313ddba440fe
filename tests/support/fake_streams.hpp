// Streams into containers that the test controls. In memory; they answer within the call if they
// can. Thread safe.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "actors/kubelet/runtime/streams.hpp"

namespace troupe::test {

// The command at the other end of a stream. Either the test controls it, writes its output and
// reads its input, or it echoes its input and ends with it, with code 0. In both cases it holds at
// most `pipe_bytes` of unread input.
class fake_command {
 public:
  static constexpr std::size_t pipe_bytes = 64u << 10;

  explicit fake_command(bool echo) : echo_{echo} {}

  // -- for the test
  void say(std::string bytes, actors::exec_part::kind from = actors::exec_part::kind::output);
  void exit(int code);
  void refuse_input();
  std::string take_input();
  std::size_t written() const;  // total bytes of input accepted
  std::size_t read() const;     // total bytes of output read
  bool input_ended() const;
  std::pair<int, int> window() const;
  bool is_open() const;

  // -- for its stream
  void read(std::function<void(actors::exec_part)> done);
  void write(std::string bytes, std::function<void(bool)> done);
  void close_input();
  void resize(int rows, int columns);
  void close();

 private:
  std::optional<actors::exec_part> next_part();
  void settle(std::unique_lock<std::mutex> lock);

  const bool echo_;
  mutable std::mutex mutex_;
  std::string input_, unwritten_;
  std::deque<actors::exec_part> parts_;
  std::optional<int> code_;
  std::function<void(actors::exec_part)> reader_;
  std::function<void(bool)> writer_;
  std::size_t written_ = 0, read_ = 0;
  std::pair<int, int> window_{};
  bool input_ended_ = false, refuses_ = false, open_ = true;
};

class fake_streams final : public actors::stream_source {
 public:
  // -- for the test
  void refuse(std::optional<actors::runtime_error> error);
  // Openings are answered only by `release`.
  void hold();
  void release();
  // The opened streams, as "exec ID a b", "attach ID", "port UID 80", with " input" and " tty".
  std::vector<std::string> calls() const;
  // In the order of opening. A command "echo" echoes, as does a port.
  std::vector<std::shared_ptr<fake_command>> commands() const;
  std::size_t open_commands() const;

  // -- as a source
  void open_exec(const std::string& id, actors::exec_request request,
                 actors::runtime_answer<std::unique_ptr<actors::exec_stream>> done) override;
  void attach(const std::string& id, actors::exec_request request,
              actors::runtime_answer<std::unique_ptr<actors::exec_stream>> done) override;
  void forward_port(const std::string& pod_uid, int port,
                    actors::runtime_answer<std::unique_ptr<actors::port_stream>> done) override;

 private:
  template <class Handle, class Stream>
  void open(std::string call, bool echo, actors::runtime_answer<std::unique_ptr<Stream>> done);

  mutable std::mutex mutex_;
  std::optional<actors::runtime_error> error_;
  bool held_ = false;
  std::vector<std::function<void()>> waiting_;
  std::vector<std::string> calls_;
  std::vector<std::shared_ptr<fake_command>> commands_;
};

}  // namespace troupe::test
