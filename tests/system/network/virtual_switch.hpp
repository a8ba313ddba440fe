// An Ethernet switch in user space: one device in each connected namespace, a thread that forwards
// frames, and a rule for each direction between two of them. Simulates cables and their faults:
// delay, loss, a partition in one direction or in both.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <utility>

#include "system/network/network_space.hpp"

namespace troupe::test {

// The treatment of frames from one port to another.
struct cable {
  bool cut = false;
  std::chrono::milliseconds delay{0};
  double loss = 0;  // of frames, 0 to 1
  // Smaller frames are not delayed. TCP's acknowledgements have less than 100 bytes.
  std::size_t least_delayed_bytes = 0;
};

class virtual_switch {
 public:
  using port = unsigned;  // 1 to 254
  struct counters {
    std::uint64_t passed = 0;
    std::uint64_t cut = 0;
    std::uint64_t lost = 0;
    std::uint64_t overflowed = 0;  // exceeded the switch's buffer or the device's queue
  };

  // The seed decides which frames are lost.
  explicit virtual_switch(std::uint64_t seed = 1);
  ~virtual_switch();
  virtual_switch(const virtual_switch&) = delete;
  virtual_switch& operator=(const virtual_switch&) = delete;

  // Makes the device "net0" there, up, with address_of(number). It exists until the switch or the
  // namespace is destroyed. Throws std::runtime_error with the reason.
  void plug(const network_space& network, port number);
  static std::string address_of(port number);

  void set(port from, port to, const cable& like);
  void set_both(port one, port other, const cable& like);
  // Cuts all cables of a port.
  void isolate(port one);
  // Restores every cable; frames in transit keep their delay.
  void heal();

  counters counted(port from, port to) const;

 private:
  using clock = std::chrono::steady_clock;
  struct frame {
    port to;
    std::string bytes;
  };
  using way = std::pair<port, port>;

  void forward();
  void unplug(port gone);
  void take(port from, std::string bytes);
  void send(port from, port to, const std::string& bytes);
  // Time until the next frame is due, in ms; -1: none is queued.
  int deliver_due();
  void wake() const;

  mutable std::mutex mutex_;
  std::map<port, int> devices_;
  std::map<way, cable> cables_;
  std::set<port> alone_;
  std::map<way, counters> counts_;
  std::multimap<clock::time_point, frame> under_way_;
  std::mt19937_64 chance_;
  bool stopping_ = false;
  int bell_ = -1;
  std::thread thread_;
};

}  // namespace troupe::test
