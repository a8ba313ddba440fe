// What happens to control planes, to members of etcd, and to the network between them, from a seed.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "system/planes/plane_cluster.hpp"

namespace troupe::test {

class plane_faults {
 public:
  // The cluster outlives it.
  plane_faults(plane_cluster& cluster, std::uint64_t seed);

  // One fault, from its beginning to its end: all processes run then, and every cable is whole.
  // Each kind comes once before any comes again. Its name.
  std::string next();
  // A control plane that has ended by itself, or a repair that was not possible.
  const std::vector<std::string>& problems() const noexcept { return problems_; }
  // How often each has happened.
  const std::map<std::string, std::size_t>& counts() const noexcept { return counts_; }

 private:
  struct fault {
    const char* name;
    void (plane_faults::*happen)();
  };
  static const std::vector<fault>& all();

  std::size_t any();  // of three
  std::size_t leader();
  // Of the fault under way, while nothing else is done.
  void last(std::chrono::milliseconds least, std::chrono::milliseconds most);
  void problem(const std::string& text) { problems_.push_back(text); }

  void kill_plane();
  void kill_leader();
  void kill_both_leaders();
  void pause_leader();
  void kill_member();
  void pause_member();
  void cut_one_way();
  void cut_back();
  void cut_off_member();
  void replace_member();
  void compact();
  void fill();
  void slow_disk();
  void step_clock();

  plane_cluster& cluster_;
  std::mt19937_64 random_;
  std::vector<std::string> problems_;
  std::map<std::string, std::size_t> counts_;
  std::vector<std::size_t> order_;  // of what is left of this round
};

}  // namespace troupe::test
