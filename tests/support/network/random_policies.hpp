// Random small clusters with network policies of every form.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "actors/network/policies/policy_state.hpp"

namespace troupe::test {

class random_policies {
 public:
  explicit random_policies(std::uint64_t seed) : random_{seed} {}

  actors::policies::policy_state state();
  // Replaces, adds or removes one pod, namespace or policy.
  void change(actors::policies::policy_state& state);
  // The address of one of these pods, or an unused one.
  actors::policies::ipv4 address();
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

  std::mt19937_64 random_;
};

}  // namespace troupe::test
