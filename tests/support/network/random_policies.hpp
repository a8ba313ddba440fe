// Random small clusters with network policies of every form.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "actors/network/policies/policy_state.hpp"

namespace troupe::test {

class random_policies {
 public:
  explicit random_policies(std::uint64_t seed, const actors::policies::address_family& family)
      : random_{seed}, family_{&family} {}

  actors::policies::policy_state state();
  // Replaces, adds or removes one pod, namespace or policy.
  void change(actors::policies::policy_state& state);
  // The address of one of these pods, or an unused one.
  actors::policies::ip_number address();
  std::uint32_t port();
  std::string protocol();

 private:
  int below(int bound) { return static_cast<int>(random_() % static_cast<unsigned>(bound)); }
  std::string one_of(const std::vector<std::string>& words);
  std::string selector();
  std::string peer();
  std::string port_text();
  std::string list(int most, std::string (random_policies::*item)());
  std::string spec();
  actors::policies::policy_pod pod(int number);
  api::object_ptr policy(int number);
  api::object_ptr labelled_namespace(const std::string& name);

  std::string text_of(int number) const;
  // A block with that number of bits for hosts.
  std::string block_of(int number, int host_bits) const;

  std::mt19937_64 random_;
  const actors::policies::address_family* family_;
};

}  // namespace troupe::test
