#include "system/network/virtual_switch.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <stdexcept>
#include <vector>

namespace troupe::test {
namespace {

// About a second of a busy test's traffic; real switches buffer less.
constexpr std::size_t frames_kept = 20'000;
// Larger than any frame of a device with the usual MTU.
constexpr std::size_t frame_limit_bytes = 2'048;
constexpr int device_queue_frames = 5'000;
// Frames taken from one device before the next has its turn.
constexpr int frames_at_once = 64;

// 02: a locally administered address. The last byte is the port.
constexpr std::array<std::uint8_t, 5> hardware_prefix{0x02, 0x74, 0x72, 0x6f, 0x75};

[[noreturn]] void fail(const std::string& operation) {
  throw std::runtime_error{operation + ": " + std::strerror(errno)};
}

void set_address(sockaddr& into, const std::string& text) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  ::inet_pton(AF_INET, text.c_str(), &address.sin_addr);
  std::memcpy(&into, &address, sizeof address);
}

// In the network namespace of the calling thread.
int open_device(virtual_switch::port number) {
  const int device = ::open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
  if (device < 0) fail("/dev/net/tun");
  ifreq request{};
  std::strcpy(request.ifr_name, "net0");
  request.ifr_flags = IFF_TAP | IFF_NO_PI;
  bool fine = ::ioctl(device, TUNSETIFF, &request) == 0;

  const int any = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  request.ifr_hwaddr.sa_family = ARPHRD_ETHER;
  std::memcpy(request.ifr_hwaddr.sa_data, hardware_prefix.data(), hardware_prefix.size());
  request.ifr_hwaddr.sa_data[hardware_prefix.size()] = static_cast<char>(number);
  fine = fine && ::ioctl(any, SIOCSIFHWADDR, &request) == 0;
  set_address(request.ifr_addr, virtual_switch::address_of(number));
  fine = fine && ::ioctl(any, SIOCSIFADDR, &request) == 0;
  set_address(request.ifr_netmask, "255.255.255.0");
  fine = fine && ::ioctl(any, SIOCSIFNETMASK, &request) == 0;
  // No burst is lost before the switch has seen it.
  request.ifr_qlen = device_queue_frames;
  fine = fine && ::ioctl(any, SIOCSIFTXQLEN, &request) == 0;
  request.ifr_flags = IFF_UP;
  fine = fine && ::ioctl(any, SIOCSIFFLAGS, &request) == 0;
  ::close(any);
  if (fine) return device;
  ::close(device);
  fail("no device in the namespace");
}

}  // namespace

virtual_switch::virtual_switch(std::uint64_t seed) : chance_{seed} {
  bell_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  thread_ = std::thread{[this] { forward(); }};
}

virtual_switch::~virtual_switch() {
  {
    const std::lock_guard lock{mutex_};
    stopping_ = true;
  }
  wake();
  thread_.join();
  for (const auto& [number, device] : devices_)
    ::close(device);
  ::close(bell_);
}

void virtual_switch::plug(const network_space& network, port number) {
  int device = -1;
  network.run([&] { device = open_device(number); });
  {
    const std::lock_guard lock{mutex_};
    if (!devices_.emplace(number, device).second) {
      ::close(device);
      throw std::runtime_error{"port " + std::to_string(number) + " is taken"};
    }
  }
  wake();
}

std::string virtual_switch::address_of(port number) {
  return "10.77.0." + std::to_string(number);
}

// -- rules ----------------------------------------------------------------------------------------

void virtual_switch::set(port from, port to, const cable& like) {
  const std::lock_guard lock{mutex_};
  cables_[{from, to}] = like;
}

void virtual_switch::set_both(port one, port other, const cable& like) {
  set(one, other, like);
  set(other, one, like);
}

void virtual_switch::isolate(port one) {
  const std::lock_guard lock{mutex_};
  alone_.insert(one);
}

void virtual_switch::heal() {
  const std::lock_guard lock{mutex_};
  cables_.clear();
  alone_.clear();
}

virtual_switch::counters virtual_switch::counted(port from, port to) const {
  const std::lock_guard lock{mutex_};
  const auto found = counts_.find({from, to});
  return found == counts_.end() ? counters{} : found->second;
}

// -- the thread -----------------------------------------------------------------------------------

void virtual_switch::forward() {
  std::string buffer(frame_limit_bytes, '\0');
  for (;;) {
    std::vector<std::pair<port, int>> from;
    std::vector<pollfd> ready{{bell_, POLLIN, 0}};
    int pause_ms = -1;
    {
      const std::lock_guard lock{mutex_};
      if (stopping_) return;
      pause_ms = deliver_due();
      from.assign(devices_.begin(), devices_.end());
    }
    for (const auto& [number, device] : from)
      ready.push_back({device, POLLIN, 0});
    if (::poll(ready.data(), ready.size(), pause_ms) < 0 && errno != EINTR) return;
    std::uint64_t rung = 0;
    static_cast<void>(::read(bell_, &rung, sizeof rung));
    for (std::size_t i = 0; i < from.size(); ++i) {
      const auto events = ready[i + 1].revents;
      if ((events & (POLLERR | POLLHUP)) != 0) unplug(from[i].first);
      if (events != POLLIN) continue;
      for (int n = 0; n < frames_at_once; ++n) {
        const auto size = ::read(from[i].second, buffer.data(), buffer.size());
        if (size <= 0) break;
        const std::lock_guard lock{mutex_};
        take(from[i].first, buffer.substr(0, static_cast<std::size_t>(size)));
      }
    }
  }
}

void virtual_switch::unplug(port gone) {
  const std::lock_guard lock{mutex_};
  ::close(devices_[gone]);
  devices_.erase(gone);
  std::erase_if(under_way_, [&](const auto& entry) { return entry.second.to == gone; });
}

void virtual_switch::take(port from, std::string bytes) {
  if (bytes.size() < 6) return;
  const bool to_all = (bytes[0] & 1) != 0;
  const auto target = static_cast<port>(static_cast<std::uint8_t>(bytes[5]));
  for (const auto& [number, device] : devices_) {
    if (number == from || (!to_all && number != target)) continue;
    auto& count = counts_[{from, number}];
    const auto found = cables_.find({from, number});
    const auto like = found == cables_.end() ? cable{} : found->second;
    if (like.cut || alone_.contains(from) || alone_.contains(number)) {
      ++count.cut;
    } else if (like.loss > 0 && std::uniform_real_distribution{}(chance_) < like.loss) {
      ++count.lost;
    } else if (like.delay.count() == 0 || bytes.size() < like.least_delayed_bytes) {
      send(from, number, bytes);
    } else if (under_way_.size() >= frames_kept) {
      ++count.overflowed;
    } else {
      ++count.passed;
      under_way_.emplace(clock::now() + like.delay, frame{number, bytes});
    }
  }
}

void virtual_switch::send(port from, port to, const std::string& bytes) {
  auto& count = counts_[{from, to}];
  const bool taken = ::write(devices_[to], bytes.data(), bytes.size()) >= 0;
  ++(taken ? count.passed : count.overflowed);
}

int virtual_switch::deliver_due() {
  const auto now = clock::now();
  while (!under_way_.empty() && under_way_.begin()->first <= now) {
    const auto& next = under_way_.begin()->second;
    // If the device does not accept the frame it is lost, as on a cable.
    static_cast<void>(::write(devices_[next.to], next.bytes.data(), next.bytes.size()));
    under_way_.erase(under_way_.begin());
  }
  if (under_way_.empty()) return -1;
  const auto left = under_way_.begin()->first - now;
  return static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(left).count());
}

void virtual_switch::wake() const {
  const std::uint64_t one = 1;
  static_cast<void>(::write(bell_, &one, sizeof one));
}

}  // namespace troupe::test
