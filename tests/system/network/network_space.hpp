// A network namespace without a name: the network of a test's machine. It exists while this object
// or a process in it exists, so that nothing is left when the test ends, for whatever
// reason.
#pragma once

#include <sys/types.h>

#include <functional>
#include <set>
#include <string>
#include <vector>

namespace troupe::test {

class network_space {
 public:
  // False, with the reason on stdout, if this machine does not allow namespaces of our own, or
  // devices in them (/dev/net/tun).
  static bool possible();

  // Has only its loopback, up. Throws std::runtime_error with the reason.
  network_space();
  // Kills every process in it with SIGKILL.
  ~network_space();
  network_space(const network_space&) = delete;
  network_space& operator=(const network_space&) = delete;

  // Runs `work` on a thread of its own in the namespace: a socket that it makes stays in the
  // namespace. Passes on exceptions.
  void run(const std::function<void()>& work) const;
  // The prefix of a command that runs it here, with its own process id.
  std::vector<std::string> wrapper() const;

  // Processes in it; only those with exactly these arguments, if any are given.
  std::set<pid_t> processes(const std::vector<std::string>& arguments = {}) const;

 private:
  int handle_ = -1;
};

}  // namespace troupe::test
