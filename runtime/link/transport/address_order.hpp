// The order in which several addresses are dialed: in rounds, each address once, in a random order
// for each round that starts with addresses other than the last one. So the clients of a failed
// server spread over the others. Pure.
#pragma once

#include <optional>
#include <random>
#include <vector>

#include "runtime/link/link.hpp"

namespace troupe::runtime::link {

class address_order {
 public:
  explicit address_order(std::uint64_t seed) : random_{seed} {}

  // The next of the known addresses; nothing if there is none.
  std::optional<address> next(const std::vector<address>& known);
  // True if `next` returned the last address of its round.
  bool round_ended() const { return left_.empty(); }
  // Starts a new round, because the last address worked for a while.
  void begin_round() { left_.clear(); }

 private:
  void fill(const std::vector<address>& known);

  std::mt19937_64 random_;
  std::vector<address> left_;  // of this round, the next one last
  std::optional<address> last_;
};

}  // namespace troupe::runtime::link
