// The directory through which a container's shim and the kubelet communicate: their only
// connection, so that either may die and start again.
//
//   spec    what to run (written by the kubelet before the shim starts)
//   running pid and start time of shim and process (written by the shim)
//   exit    how it ended (written by the shim; its presence means that all is over)
//   attach  where the shim serves those who attach (streams/attach_packets.hpp)
//
// Each file is written under another name and renamed, so that it is whole or absent. A file that
// cannot be looked at, for want of descriptors or memory, is neither: that is a std::system_error.
// The directory is open to its owner alone.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "actors/kubelet/runtime/container_types.hpp"
#include "actors/kubelet/runtimes/process/cgroup.hpp"
#include "actors/kubelet/security/process_security.hpp"

namespace troupe::actors {

struct container_spec {
  std::vector<std::string> command;      // argv; the first is looked up in PATH of `environment`
  std::vector<std::string> environment;  // "NAME=value"
  std::string working_dir = {};          // empty: "/"
  std::string log_file = {};             // CRI log format, rotated
  // Bind mounts in a mount namespace of the container's own.
  std::vector<container_mount> mounts = {};
  resource_limits limits = {};  // of its control group
  // What the next node compares; empty where an earlier program wrote it. `boot_id` is of the
  // machine's run in which the container is started.
  std::string image = {}, boot_id = {};
  // Absent where an earlier program wrote it, and in tests: as the node itself.
  std::optional<process_security> security = {};
  // Its streams (container_streams.hpp).
  bool open_stdin = false;  // those who attach may write to it
  bool stdin_once = false;  // until the first of them ends
  bool tty = false;
};

// A process and when it started (clock ticks after boot, /proc/PID/stat): a pid that was given to
// another process meanwhile is not mistaken for it.
struct process_id {
  pid_t pid = 0;
  std::uint64_t started = 0;

  bool alive() const;
  // False when that process is gone. `group`: the whole session of the process.
  bool signal(int number, bool group) const;
};
// Nothing: there is none. Throws std::system_error where that cannot be seen now.
std::optional<process_id> identify(pid_t pid);

// The wall clock, in milliseconds since the epoch.
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
  // Of its control group: UID/NAME-ATTEMPT.
  std::string group() const;
  // The shim lives, and has not written how it ended.
  bool is_running() const;

  // Makes the directory. Errors say what the system refused.
  tl::expected<void, std::string> write(const container_spec& spec) const;
  tl::expected<void, std::string> write(const running_process& running) const;
  tl::expected<void, std::string> write(const container_exit& exit) const;

  tl::expected<container_spec, std::string> spec() const;
  std::optional<running_process> running() const;
  std::optional<container_exit> exit() const;

 private:
  tl::expected<void, std::string> replace(const char* name, const std::string& content) const;
  std::optional<std::string> read(const char* name) const;
  std::filesystem::path path_;
};

}  // namespace troupe::actors
