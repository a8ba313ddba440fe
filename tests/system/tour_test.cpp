// Runs the tour of the README: its output must match a terminal's, except names, ages and widths.
#include <catch2/catch.hpp>
#include <csignal>
#include <filesystem>
#include <optional>
#include <regex>
#include <sstream>

#include "build_paths.hpp"
#include "support/scratch_folder.hpp"
#include "support/skip.hpp"
#include "system/kubectl.hpp"
#include "system/node.hpp"
#include "system/transcript.hpp"

namespace fs = std::filesystem;
using namespace troupe::test;
using namespace std::chrono_literals;

namespace {

constexpr const char* start_command =
    "build/release/bin/troupe node --runtime process --data-dir ./var &";
constexpr const char* ready_line = "ready https://127.0.0.1:6443 KUBECONFIG=./var/admin.kubeconfig";

// The README's console blocks, joined.
transcript tour() {
  std::istringstream lines{read_file(TROUPE_SOURCE_DIR "/README.md")};
  std::string text;
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("```"))
      inside = line == "```console";
    else if (inside)
      text += line + "\n";
  }
  return parse_transcript(text);
}

// Replaces parts that vary from run to run by patterns.
std::string pattern_of(const std::string& line) {
  auto out = std::regex_replace(line, std::regex{R"([.(){}\[\]?*+|^$\\])"}, R"(\$&)");
  out = std::regex_replace(out, std::regex{"hello-[a-z0-9]{5}"}, "hello-[a-z0-9]{5}");
  out = std::regex_replace(out, std::regex{R"(\b[0-9]+s\b)"}, "[0-9ms]+");
  return "~ " + std::regex_replace(out, std::regex{"  +"}, " +");
}

std::string play(const terminal& at, const transcript_step& step) {
  std::vector<std::string> expected;
  for (const auto& line : step.expected)
    expected.push_back(pattern_of(line));
  const auto deadline = std::chrono::steady_clock::now() + 90s;
  for (;;) {
    const auto got = at.run(step.command);
    const auto problem = mismatch(expected, got.output);
    if (problem.empty() && got.code == 0) return {};
    // A user types more slowly: only commands that read may be repeated.
    const bool looks = step.command.starts_with("kubectl get");
    if (!looks || std::chrono::steady_clock::now() > deadline)
      return "$ " + step.command + "\n" + got.output + "--- " + problem;
  }
}

}  // namespace

TEST_CASE("the tour of the README equals the output of a terminal") {
  const auto all = kubectls();
  if (all.empty()) {
    troupe::test::skip("no kubectl is installed; tools/setup installs one");
    return;
  }
  const scratch_folder folder;
  const std::vector<std::string> flags{"--node-name", "vm", "--root-dir", folder.path() / "pods"};
  std::optional<node> served;
  std::optional<terminal> at;
  int commands = 0;
  for (const auto& step : tour().steps) {
    CAPTURE(step.command);
    if (step.command == start_command) {
      CHECK(step.expected == std::vector<std::string>{ready_line});
      served.emplace(folder.path() / "var", flags);
      if (at) {
        // Of the next node, whose port is another one here.
        fs::copy_file(served->kubeconfig(), at->folder() / "kubeconfig",
                      fs::copy_options::overwrite_existing);
        continue;
      }
      at.emplace(all.back(), folder.path() / "home", served->kubeconfig());
      fs::create_directory_symlink(TROUPE_SOURCE_DIR "/examples", at->folder() / "examples");
    } else if (step.command == "kill -9 %1") {
      served->signal(SIGKILL);
      REQUIRE(served->wait(60s) == -SIGKILL);
      served.reset();
    } else if (step.command.starts_with("build/release/bin/troupe console")) {
      continue;  // it names a pod of an earlier run; the console has tests of its own
    } else if (!step.command.starts_with("export ")) {
      REQUIRE(at);
      const auto problem = play(*at, step);
      INFO(problem);
      REQUIRE(problem.empty());
      ++commands;
    }
  }
  CHECK(commands >= 5);
  transcript_step nothing_left;
  nothing_left.command = "kubectl get pods -o name";
  CHECK(play(*at, nothing_left).empty());
}
