#include "system/network/network_space.hpp"

#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <exception>
#include <filesystem>
#include <stdexcept>
#include <thread>

#include "support/skip.hpp"
#include "system/node.hpp"

namespace troupe::test {
namespace {

[[noreturn]] void fail(const std::string& operation) {
  throw std::runtime_error{operation + ": " + std::strerror(errno)};
}

void in_thread(const std::function<void()>& work) {
  std::exception_ptr problem;
  std::thread{[&] {
    try {
      work();
    } catch (...) {
      problem = std::current_exception();
    }
  }}.join();
  if (problem) std::rethrow_exception(problem);
}

void raise_loopback() {
  const int any = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  ifreq request{};
  std::strcpy(request.ifr_name, "lo");
  request.ifr_flags = IFF_UP;
  const bool up = ::ioctl(any, SIOCSIFFLAGS, &request) == 0;
  ::close(any);
  if (!up) fail("no loopback");
}

std::string joined(const std::vector<std::string>& arguments) {
  std::string out;
  for (const auto& each : arguments)
    out += each + '\0';
  return out;
}

}  // namespace

bool network_space::possible() {
  std::string missing;
  if (::access("/dev/net/tun", R_OK | W_OK) != 0) missing = "no /dev/net/tun";
  try {
    const network_space tried;
  } catch (const std::runtime_error& problem) {
    missing = problem.what();
  }
  if (!missing.empty()) skip(missing);
  return missing.empty();
}

network_space::network_space() {
  in_thread([this] {
    if (::unshare(CLONE_NEWNET) != 0) fail("no network namespaces");
    raise_loopback();
    handle_ = ::open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
    if (handle_ < 0) fail("no /proc");
  });
}

network_space::~network_space() {
  // A process may start another one meanwhile.
  for (int round = 0; round < 10; ++round) {
    const auto left = processes();
    if (left.empty()) break;
    for (const auto each : left)
      ::kill(each, SIGKILL);
  }
  ::close(handle_);
}

void network_space::run(const std::function<void()>& work) const {
  in_thread([&] {
    if (::setns(handle_, CLONE_NEWNET) != 0) fail("no entry to the namespace");
    work();
  });
}

std::vector<std::string> network_space::wrapper() const {
  return {"nsenter",
          "--net=/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(handle_)};
}

std::set<pid_t> network_space::processes(const std::vector<std::string>& arguments) const {
  struct stat own {};
  ::fstat(handle_, &own);
  const auto line = joined(arguments);
  std::set<pid_t> out;
  std::error_code ignored;
  for (const auto& each : std::filesystem::directory_iterator{"/proc", ignored}) {
    const auto name = each.path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    struct stat theirs {};
    if (::stat((each.path() / "ns/net").c_str(), &theirs) != 0) continue;
    if (theirs.st_ino != own.st_ino || theirs.st_dev != own.st_dev) continue;
    if (!line.empty() && read_file(each.path() / "cmdline") != line) continue;
    out.insert(std::stoi(name));
  }
  return out;
}

}  // namespace troupe::test
