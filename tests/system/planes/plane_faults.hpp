// Injects faults into control planes, etcd members and their network, at random from a seed.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "system/planes/plane_cluster.hpp"

namespace troupe::test {

// Indexes of faults; `problem`: an error in the list that chose them, with the names of all faults.
struct fault_choice {
  std::vector<std::size_t> used;
  std::string problem;
};

class plane_faults {
 public:
  // The faults whose name contains an entry of the comma separated list, or all if it is empty. An
  // entry that no name contains is an error.
  static fault_choice choose(const std::string& list);

  // The cluster must outlive this. `used`: of choose(), not empty.
  plane_faults(plane_cluster& cluster, std::uint64_t seed, std::vector<std::size_t> used);

  // Injects one fault and repairs it: afterwards all processes run and the network is complete.
  // Each kind occurs once before any is repeated. Returns the fault's name.
  std::string next();
  // Processes that ended by themselves, and repairs that failed.
  const std::vector<std::string>& problems() const noexcept { return problems_; }
  // The times from the kill of the leading control plane until another one led, and descriptions of
  // those that exceeded their limit.
  const std::vector<std::chrono::milliseconds>& hand_overs() const noexcept { return hand_overs_; }
  const std::vector<std::string>& late_hand_overs() const noexcept { return late_hand_overs_; }
  // The number of faults by name.
  const std::map<std::string, std::size_t>& counts() const noexcept { return counts_; }

 private:
  struct fault {
    const char* name;
    void (plane_faults::*happen)();
  };
  static const std::vector<fault>& all();
  // Of the faults whose name contains this part.
  static std::vector<std::size_t> indexes_of(const std::string& part);

  std::size_t any();  // random index
  std::size_t leader();
  // Sleeps while the fault lasts, for a random time in [least, most].
  void last(std::chrono::milliseconds least, std::chrono::milliseconds most);
  void problem(const std::string& text) { problems_.push_back(text); }

  bool are_ready() const;
  // After the kill of control plane `old`, which led.
  void measure_hand_over(std::size_t old);

  void kill_plane();
  void kill_leader();
  void kill_both_leaders();
  void kill_two_members();
  void pause_leader();
  void kill_member();
  void pause_member();
  void cut_one_way();
  void cut_back();
  void cut_from_member();
  void cut_off_member();
  void replace_member();
  void compact();
  void compact_during_start();
  void fill();
  bool databases_are_small();
  // Defragments all members and clears the alarm of a full quota; false if a database is not small
  // yet or a member does not answer.
  bool clear_alarm();
  void slow_disk();
  void step_clock();
  void step_running_clock();
  // -- what arrives late (late_messages.cpp)
  void delay_requests();
  void delay_requests_of_leader();
  void delay_steps();
  void pause_before_sending();
  // `paused`: pauses the control plane meanwhile, with requests under way.
  void delay_requests_of(std::size_t plane, bool paused);
  void remove_pods(std::size_t through);

  plane_cluster& cluster_;
  std::mt19937_64 random_;
  const std::vector<std::size_t> used_;
  std::vector<std::string> problems_, late_hand_overs_;
  std::vector<std::chrono::milliseconds> hand_overs_;
  std::map<std::string, std::size_t> counts_;
  std::vector<std::size_t> order_;  // remaining faults of this round, the next one last
};

}  // namespace troupe::test
