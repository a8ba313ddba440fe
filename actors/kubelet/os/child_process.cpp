#include "actors/kubelet/os/child_process.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>

#include <cstring>

extern char** environ;

namespace troupe::actors {

tl::expected<pid_t, std::string> spawn_program(const std::vector<std::string>& arguments,
                                               const std::vector<std::pair<int, int>>& files) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (const auto& [ours, its] : files)
    posix_spawn_file_actions_adddup2(&actions, ours, its);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  pid_t pid = 0;
  const int problem = ::posix_spawn(&pid, arguments.front().c_str(), &actions, &attributes,
                                    pointers(arguments).data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (problem != 0)
    return tl::make_unexpected(
        fmt::format("cannot start {}: {}", arguments.front(), std::strerror(problem)));
  return pid;
}

std::vector<char*> pointers(const std::vector<std::string>& strings) {
  std::vector<char*> result;
  for (const auto& each : strings)
    result.push_back(const_cast<char*>(each.c_str()));
  result.push_back(nullptr);
  return result;
}

}  // namespace troupe::actors
