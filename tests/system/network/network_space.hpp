// A network namespace without a name: the machine of a test, as the network sees it. It is there
// for as long as this object or a process in it, so nothing is left when the test ends, however it
// does.
#pragma once

#include <sys/types.h>

#include <functional>
#include <set>
#include <string>
#include <vector>

namespace troupe::test {

class network_space {
 public:
  // False, with a line on stdout that says why, where this machine lets us have no namespaces of
  // our own, or no devices in them (/dev/net/tun).
  static bool possible();

  // With its loopback up and nothing else. Throws std::runtime_error with the reason.
  network_space();
  // Ends every process in it with SIGKILL.
  ~network_space();
  network_space(const network_space&) = delete;
  network_space& operator=(const network_space&) = delete;

  // On a thread of its own in the namespace, to the end: a socket that `work` makes stays there,
  // whoever uses it later. Exceptions come through.
  void run(const std::function<void()>& work) const;
  // What a command has before it so that it runs here, under its own process id.
  std::vector<std::string> wrapper() const;

  // Processes in it; those with these very arguments, where any are given.
  std::set<pid_t> processes(const std::vector<std::string>& arguments = {}) const;

 private:
  int handle_ = -1;
};

}  // namespace troupe::test
