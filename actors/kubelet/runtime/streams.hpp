// Streams that a container runtime gives: logs, commands, ports. Their readers ask for each part,
// so that a reader that is slow costs one part and holds up the writer. Nothing blocks: answers
// come on threads of the runtime, which must not be blocked, or within the call where nothing has
// to be waited for.
//
// A stream has one owner, who may be on any thread, and may be destroyed while it answers: that
// answer is dropped or already under way. Each call is answered once, while the runtime lives.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "actors/kubelet/runtime/container_types.hpp"

namespace troupe::actors {

// -- logs -----------------------------------------------------------------------------------------

// One attempt of a container.
struct log_address {
  std::string pod_uid, container;
  std::string id;  // as the pod's status has it
};

struct log_query {
  bool timestamps = false;
  std::optional<std::int64_t> tail_lines;
  // Only lines written at or after that time, in the form of api::format_nano_time; empty: all.
  std::string since;
  std::optional<std::int64_t> limit_bytes;
};

struct log_text {
  std::string text = {};     // what is new; empty: nothing, as yet
  bool missing = false;      // there is no such log; said by the first read alone
  bool exhausted = false;    // limit_bytes have been given
  std::string problem = {};  // why the log cannot be had, where it is not that it is missing
};

class log_stream {
 public:
  virtual ~log_stream() = default;
  // One at a time. Gives at most `defaults::log_part_bytes`, and at the end of the log nothing: it
  // may be asked again after `defaults::log_follow_period`. Goes on over rotations.
  virtual void read(std::function<void(log_text)> done) = 0;
};

class log_source {
 public:
  virtual ~log_source() = default;
  // Thread safe. Opens nothing yet: whether there is such a log is said by the first read.
  virtual std::unique_ptr<log_stream> open_log(const log_address& from, log_query query) = 0;
};

// -- commands and consoles ------------------------------------------------------------------------

struct exec_request {
  std::vector<std::string> command;
  bool input = false;  // it can be written to; otherwise it reads nothing
  bool tty = false;    // it has a terminal: one stream both ways, and no error stream
};

struct exec_part {
  enum class kind : std::uint8_t { output, error, ended };
  kind from = kind::ended;
  std::string bytes = {};  // of the end: empty, or why it is not known how it ended
  int code = 0;            // of the end; 128 + signal for a signal
};

// Destroying it ends the command and all that is in its session.
class exec_stream {
 public:
  virtual ~exec_stream() = default;
  // One at a time. The end comes after all that was written before it, and as often as it is asked.
  virtual void read(std::function<void(exec_part)> done) = 0;
  // One at a time; answered when the command's side has taken all of it. False: it reads no more.
  virtual void write(std::string bytes, std::function<void(bool)> done) = 0;
  // The end of the input; a terminal is told by its end-of-file character.
  virtual void close_input() = 0;
  // Does nothing without a terminal.
  virtual void resize(int rows, int columns) = 0;
};

// -- ports ----------------------------------------------------------------------------------------

// A connection with a port of a pod; destroying it closes it.
class port_stream {
 public:
  virtual ~port_stream() = default;
  // One at a time; empty: the end.
  virtual void read(std::function<void(std::string)> done) = 0;
  virtual void write(std::string bytes, std::function<void(bool)> done) = 0;
  virtual void close_input() = 0;
};

// -- where both come from -------------------------------------------------------------------------

// The containers of this machine, or of a joined one. Thread safe. Each call is answered once, on
// any thread, with an error value where it failed.
class stream_source {
 public:
  virtual ~stream_source() = default;
  // Runs a command in a container that runs.
  virtual void open_exec(const std::string& id, exec_request request,
                         runtime_answer<std::unique_ptr<exec_stream>> done) = 0;
  // The streams of the container's own process; `command` is empty. Destroying what it answers
  // leaves the process alone.
  virtual void attach(const std::string& id, exec_request request,
                      runtime_answer<std::unique_ptr<exec_stream>> done) = 0;
  // Connects with a port of a pod.
  virtual void forward_port(const std::string& pod_uid, int port,
                            runtime_answer<std::unique_ptr<port_stream>> done) = 0;
};

}  // namespace troupe::actors
