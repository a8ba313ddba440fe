// The addresses of the pods of one simulated node, by their last byte. Pure.
//
// A pod keeps its address until it has ended, also over a restart of the node: the addresses in use
// are those that the pods in the store have.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace troupe::actors {

class address_pool {
 public:
  static constexpr int size = 254;  // 1 to 254

  // The pod, by its key, has this address.
  void keep(const std::string& pod, int address);
  // It has it no more.
  void release(const std::string& pod, int address);
  // The next address that no pod has; if none is left, the next one. An address that was given is
  // given again only after all others, since the pod that it was given to may not be stored yet.
  int next();

 private:
  bool is_used(int address) const;

  // Hashes of the pods' keys by address, less one; 0: free. Later addresses are free.
  std::vector<std::uint32_t> pods_;
  int last_ = 0;
};

}  // namespace troupe::actors
