// Every command that the help of a kubectl names has a transcript or a stated reason
// (commands-without-transcript).
#include "system/commands.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <iterator>
#include <thread>

#include "build_paths.hpp"
#include "support/skip.hpp"
#include "system/kubectl.hpp"
#include "system/node.hpp"
#include "system/transcript.hpp"

using namespace troupe::test;

namespace {

// Text for the shell with these versions: a step, or a script that a step runs.
struct script {
  std::string versions;
  std::string text;
};

std::vector<script> scripts_of_all_transcripts() {
  std::vector<script> out;
  for (const auto& path : transcript_files()) {
    const auto parsed = parse_transcript(read_file(path));
    for (const auto& step : parsed.steps)
      out.push_back({step.versions, step.command});
    for (const auto& file : parsed.files)
      if (file.name.ends_with(".sh")) out.push_back({{}, file.content});
  }
  return out;
}

// Commands without a script or a reason, and reasons that are not needed.
std::vector<std::string> problems_of(const std::string& version,
                                     const std::vector<std::string>& commands,
                                     const std::vector<script>& scripts,
                                     const std::vector<unplayed_command>& reasons) {
  std::vector<std::string> out;
  for (const auto& command : commands) {
    const bool played = std::any_of(scripts.begin(), scripts.end(), [&](const auto& each) {
      return version_fits(version, each.versions) && calls(each.text, command);
    });
    const bool excused = std::any_of(reasons.begin(), reasons.end(), [&](const auto& reason) {
      return reason.command == command && version_fits(version, reason.versions);
    });
    if (!played && !excused) out.push_back(version + ": no transcript of \"" + command + "\"");
    if (played && excused) out.push_back(version + ": a reason, and a transcript of " + command);
  }
  return out;
}

std::vector<std::string> sorted(std::vector<std::string> names) {
  std::sort(names.begin(), names.end());
  return names;
}

// The commands of each kubectl, oldest first. A command that has none below it in the oldest and in
// the newest one has none in those between, which are not asked for its help.
std::vector<std::vector<std::string>> commands_of_all(const std::vector<kubectl>& all) {
  std::vector<std::vector<std::string>> out(all.size());
  std::vector<std::string> without_subcommands;
  const auto read = [&](std::size_t i) {
    out[i] = commands_of([&](const std::string& command) {
      if (std::binary_search(without_subcommands.begin(), without_subcommands.end(), command))
        return std::string{};
      return shell(all[i].path + " " + command + " --help 2>/dev/null").output;
    });
  };
  std::vector<std::thread> threads;
  threads.emplace_back(read, 0);
  if (all.size() > 1) threads.emplace_back(read, all.size() - 1);
  for (auto& thread : threads)
    thread.join();
  threads.clear();
  const auto oldest = sorted(out.front()), newest = sorted(out.back());
  std::set_intersection(oldest.begin(), oldest.end(), newest.begin(), newest.end(),
                        std::back_inserter(without_subcommands));
  for (std::size_t i = 1; i + 1 < all.size(); ++i)
    threads.emplace_back(read, i);
  for (auto& thread : threads)
    thread.join();
  return out;
}

}  // namespace

TEST_CASE("the help of kubectl is read as a list of commands") {
  const std::string help =
      "kubectl controls the cluster.\n\nBasic Commands (Beginner):\n"
      "  create        Create a resource.\n  api-versions  Print the versions\n\n"
      "Subcommands provided by plugins:\n  greet         is a plugin\n\n"
      "Available Commands:\n  run\n\nExamples:\n  kubectl run\n\nUsage:\n  kubectl [flags]\n";
  CHECK(commands_in(help) == std::vector<std::string>{"create", "api-versions", "run"});
  CHECK(commands_in("Examples:\n  kubectl get pods\n").empty());
}

TEST_CASE("commands are those without commands below them") {
  const auto help = [](const std::string& command) -> std::string {
    if (command.empty()) return "Commands:\n  get\n  create\n";
    if (command == "create") return "Available Commands:\n  role\n  secret\n";
    if (command == "create secret") return "Available Commands:\n  tls\n";
    return "Usage:\n";
  };
  CHECK(commands_of(help) == std::vector<std::string>{"get", "create role", "create secret tls"});
}

TEST_CASE("a script calls a command by its whole name") {
  const std::string script = "x=$(kubectl create rolebinding b) && kubectl cp";
  CHECK(calls(script, "create rolebinding"));
  CHECK(calls(script, "cp"));
  CHECK_FALSE(calls(script, "create role"));
  CHECK_FALSE(calls("my-kubectl get", "get"));
}

TEST_CASE("a reason names versions, a command and why") {
  const auto parsed = parse_unplayed("# a comment\n\n{<1.27} create role: it crashes: always\n");
  REQUIRE(parsed.size() == 1);
  CHECK(parsed[0].versions == "<1.27");
  CHECK(parsed[0].command == "create role");
  CHECK(parsed[0].reason == "it crashes: always");
  CHECK_THROWS_WITH(parse_unplayed("\ncreate role: it crashes\n"), Catch::Contains("line 2"));
  CHECK_THROWS(parse_unplayed("{<1.27} create role:\n"));
}

TEST_CASE("a command without a transcript or a reason is a problem") {
  const std::vector<script> scripts{{">=1.27", "kubectl get pods"}};
  const std::vector<unplayed_command> reasons{{"<1.27", "get", "so"}};
  CHECK(problems_of("1.27.1", {"get"}, scripts, reasons).empty());
  CHECK(problems_of("1.20.2", {"get"}, scripts, reasons).empty());
  CHECK(problems_of("1.27.1", {"cp"}, scripts, reasons).size() == 1);
  CHECK(problems_of("1.20.2", {"get"}, scripts, {}).size() == 1);
  CHECK(problems_of("1.27.1", {"get"}, scripts, {{">=1.27", "get", "so"}}).size() == 1);
}

TEST_CASE("every command of every kubectl has a transcript or a reason why not") {
  const auto all = kubectls();
  if (all.empty()) return troupe::test::skip("no kubectl is installed; tools/setup installs one");
  const auto scripts = scripts_of_all_transcripts();
  const auto reasons =
      parse_unplayed(read_file(TROUPE_SOURCE_DIR "/tests/system/commands-without-transcript"));
  const auto commands = commands_of_all(all);
  for (std::size_t i = 0; i < all.size(); ++i) {
    INFO(all[i].path);
    CHECK(commands[i].size() > 80);
    for (const auto& problem : problems_of(all[i].version, commands[i], scripts, reasons))
      FAIL_CHECK(problem);
  }
}
