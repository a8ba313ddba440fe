// A machine of a test: a network namespace, a folder, and the program that runs there.
#pragma once

#include <chrono>
#include <csignal>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "clock/clock_file.hpp"
#include "support/programs/process.hpp"
#include "support/programs/shell.hpp"
#include "system/network/network_space.hpp"
#include "system/network/virtual_switch.hpp"

namespace troupe::test {

class machine {
 public:
  // Machine N has address 10.77.0.N, node name "mN", and its files in `folder`/mN.
  machine(virtual_switch& network, virtual_switch::port number,
          const std::filesystem::path& folder);
  // Ends the program and all other processes of the machine.
  ~machine();

  virtual_switch::port number() const noexcept { return number_; }
  std::string name() const { return "m" + std::to_string(number_); }
  std::string address() const { return virtual_switch::address_of(number_); }
  std::filesystem::path data() const { return folder_ / "data"; }
  const network_space& space() const noexcept { return space_; }
  network_space& space() noexcept { return space_; }

  // Runs `troupe <words> --data-dir D` until it reports that it is ready or has joined. Otherwise
  // throws std::runtime_error with the end of its log. The same words again are a
  // restart.
  void start(const std::vector<std::string>& words);
  // From its next start on it runs this program instead of ours.
  void use(const std::filesystem::path& program) { path_ = program; }
  void restart();
  // From its next start on the program's clock is ahead by this time (or behind); at once if the
  // program was started after an earlier call.
  void clock_skew(std::chrono::seconds skew);
  // SIGKILL: its child processes keep running.
  void kill();
  // SIGTERM; returns the exit code.
  int end();
  void pause() const { program_->signal(SIGSTOP); }
  void resume() const { program_->signal(SIGCONT); }
  bool runs() const { return program_ && !program_->wait(std::chrono::milliseconds{0}); }
  pid_t id() const { return program_->id(); }
  std::string log() const;

  // Runs a shell command in the machine's folder, for at most three minutes; `troupe` is ours.
  process_result run(const std::string& command) const;

 private:
  const virtual_switch::port number_;
  const std::filesystem::path folder_;
  network_space space_;
  std::filesystem::path path_;  // of the program
  std::vector<std::string> words_;
  std::unique_ptr<clock_file> clock_;  // null: the clock of the system
  std::unique_ptr<process> program_;
};

}  // namespace troupe::test
