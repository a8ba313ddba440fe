// A node with simulated containers, for as long as the object exists.
#pragma once

#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <fstream>
#include <string>
#include <vector>

#include "build_paths.hpp"
#include "support/scratch_folder.hpp"
#include "tools/child.hpp"

namespace troupe::tools::test {

class console_node {
 public:
  explicit console_node(std::vector<std::string> flags = {})
      : flags_{std::move(flags)}, process_{[this] { return become_node(); }} {
    const bool ready = process_.says("ready https://");
    INFO(process_.err());
    REQUIRE(ready);
  }
  ~console_node() {
    process_.signal(SIGCONT);
    process_.signal(SIGTERM);
    process_.wait();
  }

  process_result console(std::vector<std::string> arguments) const {
    std::vector<std::string> all{"console", "--data-dir", folder()};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return program(all);
  }
  // Suspends it; its connections stay open.
  void hang() const { process_.signal(SIGSTOP); }
  std::string folder() const { return folder_.path().string(); }
  std::string kubeconfig() const { return folder() + "/admin.kubeconfig"; }
  // The administrator's token, which the node made at its first start.
  std::string token() const {
    std::ifstream file{folder_.path() / "pki" / "tokens.csv"};
    std::string text;
    std::getline(file, text, ',');
    return text;
  }
  // https://127.0.0.1:PORT
  std::string server() const {
    const auto& said = process_.out();
    const auto begin = said.find("https://");
    return said.substr(begin, said.find(' ', begin) - begin);
  }

 private:
  int become_node() const {
    std::vector<std::string> all{"troupe",   "node",        "--data-dir", folder(),
                                 "--listen", "127.0.0.1:0", "--runtime",  "simulated"};
    all.insert(all.end(), flags_.begin(), flags_.end());
    std::vector<char*> pointers;
    for (auto& each : all)
      pointers.push_back(each.data());
    pointers.push_back(nullptr);
    ::execv(TROUPE_BINARY_DIR "/troupe", pointers.data());
    return 127;
  }

  const std::vector<std::string> flags_;
  troupe::test::scratch_folder folder_;
  child process_;
};

}  // namespace troupe::tools::test
