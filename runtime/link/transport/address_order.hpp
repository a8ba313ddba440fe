// Which of several addresses is dialled next: in rounds, each of them once, in an order that is
// made by chance for each round; first those that were not tried last. So many callers of a server
// that has gone spread over the others. Pure.
#pragma once

#include <optional>
#include <random>
#include <vector>

#include "runtime/link/link.hpp"

namespace troupe::runtime::link {

class address_order {
 public:
  explicit address_order(std::uint64_t seed) : random_{seed} {}

  // Of those that are known now; nothing where there is none.
  std::optional<address> next(const std::vector<address>& known);
  // The one that `next` gave was the last of its round.
  bool round_ended() const { return left_.empty(); }
  // The next one begins a round: the one before was good for a while.
  void begin_round() { left_.clear(); }

 private:
  void fill(const std::vector<address>& known);

  std::mt19937_64 random_;
  std::vector<address> left_;  // of this round, the next one last
  std::optional<address> last_;
};

}  // namespace troupe::runtime::link
