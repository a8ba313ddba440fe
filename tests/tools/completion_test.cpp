#include <catch2/catch.hpp>
#include <filesystem>
#include <sstream>

#include "support/scratch_folder.hpp"
#include "support/skip.hpp"
#include "tools/child.hpp"

using namespace troupe::tools::test;
using troupe::test::scratch_folder;

namespace {

// bash's completions of the words; the last word is incomplete.
std::string offered(const std::vector<std::string>& words) {
  const scratch_folder folder;
  const auto script = folder.write("completion", program({"completion", "bash"}).out);
  std::string line = "COMP_WORDS=(troupe";
  for (const auto& word : words)
    line += " '" + word + "'";
  line += "); COMP_CWORD=" + std::to_string(words.size()) + "; _troupe; echo \"${COMPREPLY[*]}\"";
  const auto done = run({"/bin/bash", "-c", "source " + script.string() + "; " + line});
  CHECK(done.err.empty());
  return done.out.substr(0, done.out.find('\n'));
}

}  // namespace

TEST_CASE("bash completes subcommands, flags and the words that a flag takes") {
  CHECK(offered({"no"}) == "node");
  CHECK(offered({"config", ""}) == "print validate docs --help");
  CHECK(offered({"node", "--run"}) == "--runtime");
  CHECK(offered({"node", "--runtime", ""}) == "auto process cri simulated");
  CHECK(offered({"node", "--runtime", "process", "--log-l"}) == "--log-level");
  CHECK(offered({"node", "--listen", ""}).empty());
  CHECK(offered({"config", "print", "--log-format", "j"}) == "json");
  CHECK(offered({"completion", "z"}) == "zsh");
  CHECK(offered({"help", "comp"}) == "completion");
  CHECK(offered({"node", "--data-dir", "/us"}) == "/usr");
  CHECK(offered({"node", "--config", "/etc/pass"}).starts_with("/etc/passwd"));
}

TEST_CASE("every shell that is here accepts its script") {
  const auto shell = GENERATE(as<std::string>{}, "bash", "zsh", "fish");
  const auto script = program({"completion", shell});
  CHECK(script.code == 0);
  CHECK(script.out.find("--log-level") + script.out.find("-l log-level") != std::string::npos);
  const auto binary = "/usr/bin/" + shell;
  if (!std::filesystem::exists(binary)) {
    troupe::test::skip(shell + " is not installed");
    return;
  }
  const scratch_folder folder;
  const auto read = run({binary, "-n", folder.write("completion", script.out).string()});
  CHECK(read.err.empty());
  CHECK(read.code == 0);
}
