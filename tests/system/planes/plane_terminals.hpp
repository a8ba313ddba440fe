// The machines and terminals of docs/several-control-planes.md: types the commands that the
// document shows, and compares their output with the document's.
//
// A command that ends with & is a job of its machine (%1, %2, …; %+ is the last one). "…" in a
// command stands for the rest of an output line, or of an earlier command of that machine, that
// begins with the text before it; in an output line, for any text.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "support/programs/process.hpp"
#include "support/scratch_folder.hpp"
#include "system/network/machine.hpp"
#include "system/network/virtual_switch.hpp"

namespace troupe::test {

class plane_terminals {
 public:
  // Those of control planes; further ones are for an etcd.
  static constexpr virtual_switch::port machines = 3;

  // Each machine has `troupe`, the newest kubectl, and the document's load.sh in its folder.
  explicit plane_terminals(virtual_switch::port count = machines);
  // Kills all jobs.
  ~plane_terminals();

  // Types the commands of a section ("### …"). Returns the first problem; empty: there is none.
  std::string play(const std::string& section);
  // Types one command at a machine; `expected` as in the document.
  std::string type(virtual_switch::port number, const std::string& command,
                   const std::vector<std::string>& expected = {});

  machine& at(virtual_switch::port number) const { return *machines_.at(number - 1); }
  std::filesystem::path folder_of(virtual_switch::port number) const;
  virtual_switch& network() noexcept { return network_; }
  const std::filesystem::path& folder() const noexcept { return folder_.path(); }
  // The end of each job's log.
  std::string logs() const;

 private:
  struct typed {
    virtual_switch::port number = 0;  // 0: outside of the machines
    std::string command;
    std::vector<std::string> output;
  };
  static std::vector<typed> commands_of(const std::string& section);

  std::string complete(virtual_switch::port number, const std::string& command) const;
  std::string run(virtual_switch::port number, const std::string& command,
                  const std::vector<std::string>& expected);
  std::string start(virtual_switch::port number, const std::string& command,
                    const std::vector<std::string>& expected);
  std::string kill(virtual_switch::port number, std::size_t job, int signal);
  std::string type_outside(const std::string& command);

  const scratch_folder folder_;
  virtual_switch network_;
  std::vector<std::unique_ptr<machine>> machines_;
  std::map<virtual_switch::port, std::vector<std::unique_ptr<process>>> jobs_;  // null: ended
  std::map<virtual_switch::port, std::string> exports_;
  std::map<virtual_switch::port, std::vector<std::string>> typed_;
  std::vector<std::string> printed_;
};

}  // namespace troupe::test
