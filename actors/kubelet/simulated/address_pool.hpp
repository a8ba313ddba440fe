// The addresses of the pods of one simulated node, by their last byte. Pure.
//
// A pod keeps its address until it has ended, also over a restart of the node: the addresses in use
// are those that the pods in the store have.
#pragma once

#include <array>
#include <map>
#include <string>

namespace troupe::actors {

class address_pool {
 public:
  static constexpr int size = 254;  // 1 to 254

  // The pod, by its key, has this address and no other.
  void keep(const std::string& pod, int address);
  void release(const std::string& pod);
  // The next address that no pod has; if none is left, the next one. An address that was given is
  // given again only after all others, since the pod that it was given to may not be stored yet.
  int next();

 private:
  std::map<std::string, int> addresses_;  // by pod
  std::array<int, size + 1> pods_{};      // how many pods have the address
  int last_ = 0;
};

}  // namespace troupe::actors
