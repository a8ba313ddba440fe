// The directory through which a container's shim and the kubelet communicate. They have no other
// connection, so either may die and restart.
//
//   spec    the container's spec (written by the kubelet before the shim starts)
//   running pids and start times of the shim and the process (written by the shim)
//   exit    exit code and times (written by the shim when the container has ended)
//   resolv.conf  mounted in the container, if it has its own (written by the kubelet)
//   attach  socket on which the shim serves attached clients (streams/attach_packets.hpp)
//
// Each file is written under another name and renamed, so it is complete or absent. If a file
// cannot be read for lack of descriptors or memory, a std::system_error is thrown. Only the owner
// can access the directory.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "actors/kubelet/logs/log_limits.hpp"
#include "actors/kubelet/runtime/container_types.hpp"
#include "actors/kubelet/runtimes/process/cgroup.hpp"
#include "actors/kubelet/security/process_security.hpp"

namespace troupe::actors {

struct container_spec {
  std::vector<std::string> command;      // argv; argv[0] is looked up in PATH of `environment`
  std::vector<std::string> environment;  // "NAME=value"
  std::string working_dir = {};          // empty: "/"
  std::string log_file = {};             // CRI log format, rotated
  log_limits log = {};
  // Bind mounts in the container's own mount namespace.
  std::vector<container_mount> mounts = {};
  resource_limits limits = {};  // of its control group
  // Compared by the next node process; empty if an older program wrote it. `boot_id` identifies the
  // boot of the machine in which the container is started.
  std::string image = {}, boot_id = {};
  // Absent if an older program wrote it, and in tests: runs with the node's own rights.
  std::optional<process_security> security = {};
  // The text of its /etc/resolv.conf; empty: the machine's. Not kept on disk: the kubelet makes it
  // one of `mounts`.
  std::string resolver = {};
  // Its standard streams (container_streams.hpp).
  bool open_stdin = false;  // attached clients may write to it
  bool stdin_once = false;  // until the first of these clients ends
  bool tty = false;
};

// A process and its start time (clock ticks after boot, /proc/PID/stat): a pid that was reused by
// another process is not mistaken for it.
struct process_id {
  pid_t pid = 0;
  std::uint64_t started = 0;

  bool alive() const;
  // Returns false if the process is gone. `group`: signal the whole session of the process.
  bool signal(int number, bool group) const;
};
// Returns nothing if there is no such process. Throws std::system_error if /proc cannot be read.
std::optional<process_id> identify(pid_t pid);

// The current wall clock time, in milliseconds since the epoch.
std::int64_t wall_ms();

struct running_process {
  process_id shim, process;
  std::int64_t since_ms = 0;  // as wall_ms
};

class container_dir {
 public:
  // ROOT/pods/UID/containers/NAME/ATTEMPT (container_files.hpp).
  explicit container_dir(std::filesystem::path path) : path_{std::move(path)} {}
  const std::filesystem::path& path() const noexcept { return path_; }
  // The name of its control group: UID/NAME-ATTEMPT.
  std::string group() const;
  // The shim is alive and has not written the exit file.
  bool is_running() const;

  // Creates the directory. Errors name the failed system call.
  tl::expected<void, std::string> write(const container_spec& spec) const;
  tl::expected<void, std::string> write(const running_process& running) const;
  tl::expected<void, std::string> write(const container_exit& exit) const;
  // A file that any user may read where it is mounted; returns its path.
  tl::expected<std::string, std::string> write_resolver(const std::string& text) const;

  tl::expected<container_spec, std::string> spec() const;
  std::optional<running_process> running() const;
  std::optional<container_exit> exit() const;

 private:
  tl::expected<void, std::string> make() const;
  tl::expected<void, std::string> replace(const char* name, const std::string& content) const;
  std::optional<std::string> read(const char* name) const;
  std::filesystem::path path_;
};

}  // namespace troupe::actors
