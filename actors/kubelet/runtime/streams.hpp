// Streams of a container runtime: logs, commands, ports. Readers request each part, so a
// slow reader buffers one part and blocks the writer. Nothing blocks: callbacks run on
// threads of the runtime, which they must not block, or within the call if there is nothing
// to wait for.
//
// A stream has one owner, on any thread. Destroying it drops the answer of a pending call or lets
// it finish. Each call is answered once while the runtime lives.
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
  std::string id;  // as in the pod's status
};

struct log_query {
  bool timestamps = false;
  std::optional<std::int64_t> tail_lines;
  // Only lines written at or after this time, in the format of api::format_nano_time; empty: all.
  std::string since;
  std::optional<std::int64_t> limit_bytes;
};

struct log_text {
  std::string text = {};     // the new text; empty: none yet
  bool missing = false;      // there is no such log; set only by the first read
  bool exhausted = false;    // limit_bytes were returned
  std::string problem = {};  // why the log cannot be read, if not because it is missing
};

class log_stream {
 public:
  virtual ~log_stream() = default;
  // One call at a time. Returns at most `defaults::log_part_bytes`, and nothing at the end of the
  // log: read again after `defaults::log_follow_period`. Continues over rotations.
  virtual void read(std::function<void(log_text)> done) = 0;
};

class log_source {
 public:
  virtual ~log_source() = default;
  // Thread safe. Opens nothing yet: the first read reports a missing log.
  virtual std::unique_ptr<log_stream> open_log(const log_address& from, log_query query) = 0;
};

// -- commands and consoles ------------------------------------------------------------------------

struct exec_request {
  std::vector<std::string> command;
  bool input = false;  // has an input; otherwise it reads end-of-file at once
  bool tty = false;    // has a terminal: one stream in both directions, no error stream
};

struct exec_part {
  enum class kind : std::uint8_t { output, error, ended };
  kind from = kind::ended;
  std::string bytes = {};  // of the end: empty, or why the exit code is unknown
  int code = 0;            // of the end; 128 + signal for a signal
};

// Destroying it kills the command and all processes of its session.
class exec_stream {
 public:
  virtual ~exec_stream() = default;
  // One call at a time. The end follows all output, and is returned again on each further call.
  virtual void read(std::function<void(exec_part)> done) = 0;
  // One call at a time; answered when the command took all bytes. False: it reads no more.
  virtual void write(std::string bytes, std::function<void(bool)> done) = 0;
  // Ends the input; on a terminal by its end-of-file character.
  virtual void close_input() = 0;
  // No effect without a terminal.
  virtual void resize(int rows, int columns) = 0;
};

// -- ports ----------------------------------------------------------------------------------------

// A connection to a port of a pod; destroying it closes it.
class port_stream {
 public:
  virtual ~port_stream() = default;
  // One call at a time; empty: the connection ended.
  virtual void read(std::function<void(std::string)> done) = 0;
  virtual void write(std::string bytes, std::function<void(bool)> done) = 0;
  virtual void close_input() = 0;
};

// -- where both come from -------------------------------------------------------------------------

// The streams of containers on this machine or a joined one. Thread safe. Each call is answered
// once, on any thread, with an error value if it failed.
class stream_source {
 public:
  virtual ~stream_source() = default;
  // Runs a command in a running container.
  virtual void open_exec(const std::string& id, exec_request request,
                         runtime_answer<std::unique_ptr<exec_stream>> done) = 0;
  // Opens the streams of the container's main process; `command` is empty. Destroying the stream
  // does not end the process.
  virtual void attach(const std::string& id, exec_request request,
                      runtime_answer<std::unique_ptr<exec_stream>> done) = 0;
  // Connects to a port of a pod.
  virtual void forward_port(const std::string& pod_uid, int port,
                            runtime_answer<std::unique_ptr<port_stream>> done) = 0;
};

}  // namespace troupe::actors
