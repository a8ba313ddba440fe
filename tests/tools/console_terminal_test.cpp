// The console at a terminal: the real program, its keys and its screen.
#include <catch2/catch.hpp>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "support/programs/eventually.hpp"
#include "support/scratch_folder.hpp"
#include "tools/console_node.hpp"
#include "tools/defaults.hpp"
#include "tools/terminal.hpp"

using namespace troupe::tools::test;
using troupe::test::scratch_folder;

namespace {

constexpr const char* ctrl_c = "\003";
constexpr const char* ctrl_d = "\004";
constexpr const char* drop_line = "\025";  // Ctrl-U
constexpr const char* up = "\033[A";
// Large enough for any output.
constexpr terminal::size long_screen{.rows = 200, .columns = 100};

std::vector<std::string> console_of(const console_node& node, std::vector<std::string> more = {}) {
  std::vector<std::string> all{"console", "--data-dir", node.folder()};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

}  // namespace

TEST_CASE("the prompt has history and completion, and ends with quit or Ctrl-D") {
  const console_node node;
  const scratch_folder home;
  {
    terminal t{console_of(node), home.path().string(), long_screen};
    INFO("commands are completed, and help lists them");
    REQUIRE(t.prompts());
    t.type("watchers --t\t");
    REQUIRE(t.shows("watchers --top"));
    t.type("1\n");
    REQUIRE(t.shows("SUBSCRIBER"));
    REQUIRE(t.prompts());
    t.type("hel\t\n");
    REQUIRE(t.shows("Every change of an object"));
    REQUIRE(t.prompts());

    INFO("actors are completed by the node");
    t.type("actor wri\t");
    REQUIRE(t.shows("troupe> actor writer/writer"));
    t.type("\n");
    REQUIRE(t.shows("RESTARTS"));
    REQUIRE(t.prompts());

    INFO("nodes, where one is meant");
    t.type("actors --node simul\t");
    REQUIRE(t.shows("actors --node simulated-0000"));
    t.type(drop_line);

    INFO("what can only be one of a few");
    for (const auto& [typed, shown] : {std::pair{"actors --sort bu\t", "actors --sort busy"},
                                       std::pair{"log deb\t", "log debug"},
                                       std::pair{"send writer ev\t", "send writer evict"}}) {
      t.type(typed);
      REQUIRE(t.shows(shown));
      t.type(drop_line);
    }

    INFO("objects as well");
    t.type("history nodes/simulated-0\t");
    REQUIRE(t.shows("history nodes/simulated-0000"));
    t.type("\n");
    REQUIRE(t.shows("created"));
    REQUIRE(t.prompts());

    t.type("quit\n");
    CHECK(t.wait() == 0);
  }
  INFO("the next console remembers, and the file is its owner's alone");
  const auto kept = home.path() / ".troupe_console_history";
  CHECK((std::filesystem::status(kept).permissions() & std::filesystem::perms::group_all) ==
        std::filesystem::perms::none);
  terminal t{console_of(node), home.path().string(), long_screen};
  REQUIRE(t.prompts());
  t.type(up);
  REQUIRE(t.shows("troupe> history nodes/simulated-0000"));
  t.type(up);
  REQUIRE(t.shows("troupe> actor writer/writer"));
  t.type("\n");
  REQUIRE(t.shows("RESTARTS"));
  REQUIRE(t.prompts());
  t.type(ctrl_d);
  CHECK(t.wait() == 0);
}

TEST_CASE("Ctrl-C drops the line, ends a trace, and leaves the prompt") {
  const console_node node;
  const scratch_folder home;
  terminal t{console_of(node), home.path().string(), {}};
  REQUIRE(t.prompts());
  t.type("kill wri");
  REQUIRE(t.shows("kill wri"));
  t.type(ctrl_c);
  REQUIRE(t.shows("kill wri^C"));
  t.type("store\n");
  REQUIRE(t.shows("REVISION"));
  REQUIRE(t.prompts());

  t.type("trace\n");
  REQUIRE(t.shows(" -> "));
  t.type(ctrl_c);
  REQUIRE(t.prompts());
  t.type("help store\n");
  REQUIRE(t.shows("Revision, log, compaction"));
  REQUIRE(t.prompts());
  t.type("top\n");
  REQUIRE(t.comes_to([&] { return t.full_screen(); }));
  t.type(ctrl_c);
  REQUIRE(t.comes_to([&] { return !t.full_screen(); }));
  REQUIRE(t.prompts());
  t.type("quit\n");
  CHECK(t.wait() == 0);
}

TEST_CASE("top fills the screen whatever its size becomes, and gives it back") {
  const console_node node;
  const scratch_folder home;
  terminal t{console_of(node), home.path().string(), {.rows = 30, .columns = 100}};
  REQUIRE(t.prompts());
  t.type("top\n");
  REQUIRE(t.comes_to([&] { return t.full_screen(); }));
  REQUIRE(t.shows("WRITER-QUEUE"));
  REQUIRE(t.shows("KIND"));
  t.resize({.rows = 10, .columns = 40});
  REQUIRE(t.shows("MESSAGES-PER-SECOND"));
  REQUIRE(t.comes_to([&] { return t.screen().find("KINDS") == std::string::npos; }));
  t.resize({.rows = 40, .columns = 120});
  REQUIRE(t.shows("KINDS"));
  t.type("q");
  REQUIRE(t.comes_to([&] { return !t.full_screen(); }));
  REQUIRE(t.prompts());
  t.type("quit\n");
  CHECK(t.wait() == 0);
}

TEST_CASE("warnings appear at an idle prompt, and the typed line stays") {
  const console_node node;
  const scratch_folder home;
  terminal t{console_of(node, {"--allow-control"}), home.path().string(), {.columns = 160}};
  REQUIRE(t.prompts());
  for (int i = 0; i < 5; ++i) {
    t.type("restart recorder\n");
    REQUIRE(t.prompts());
  }
  t.type("why pods/");
  REQUIRE(t.shows("! restarts"));
  CHECK(t.shows("troupe> why pods/"));
  t.type(ctrl_c);
  REQUIRE(t.shows("why pods/^C"));
  REQUIRE(t.prompts());
  t.type("quit\n");
  CHECK(t.wait() == 0);
}

TEST_CASE("a node that hangs affects neither the prompt nor its history") {
  const console_node node;
  const scratch_folder home;
  terminal t{console_of(node), home.path().string(), {}};
  REQUIRE(t.prompts());
  t.type("store\n");
  REQUIRE(t.shows("REVISION"));
  REQUIRE(t.prompts());
  node.hang();
  for (const char* command : {"cluster", "trace", "top"}) {
    INFO(command);
    const auto begin = std::chrono::steady_clock::now();
    t.type(std::string{command} + "\n");
    REQUIRE(t.comes_to([&] { return t.reads_lines() || t.full_screen(); }));
    t.type(ctrl_c);
    REQUIRE(t.prompts());
    // Before the request ends by itself.
    CHECK(std::chrono::steady_clock::now() - begin < troupe::tools::defaults::answer_limit);
  }
  INFO("what is typed while it asks for warnings is there at once");
  const auto asks = [&] {
    const auto tasks = "/proc/" + std::to_string(t.id()) + "/task";
    return std::distance(std::filesystem::directory_iterator{tasks}, {}) > 1;
  };
  const auto begin = std::chrono::steady_clock::now();
  t.comes_to(asks);
  t.type("help store\n");
  REQUIRE(t.shows("Revision, log, compaction"));
  CHECK(std::chrono::steady_clock::now() - begin < troupe::tools::defaults::answer_limit);
  INFO("it dies, and what was typed is kept");
  ::kill(t.id(), SIGKILL);
  CHECK(t.wait() == -SIGKILL);
  std::ifstream kept{home.path() / ".troupe_console_history"};
  const std::string lines{std::istreambuf_iterator<char>{kept}, {}};
  CHECK_THAT(lines, Catch::Matchers::Contains("cluster\n") &&
                        Catch::Matchers::EndsWith("help\\040store\n"));
}

TEST_CASE("a console that hangs or dies leaves nothing behind") {
  const console_node node;
  const scratch_folder home;
  const auto tracers = [&] {
    return node.console({"--output", "json", "-c", "actors --kind trace"}).out;
  };
  terminal t{console_of(node), home.path().string(), {}};
  REQUIRE(t.prompts());
  t.type("trace\n");
  REQUIRE(t.shows(" -> "));
  INFO("it hangs: the node goes on and says how much was not shown");
  ::kill(t.id(), SIGSTOP);
  CHECK(node.console({"-c", "store"}).code == 0);
  CHECK(tracers() != "[]\n");
  INFO("it dies");
  ::kill(t.id(), SIGKILL);
  CHECK(t.wait() == -SIGKILL);
  CHECK(troupe::test::eventually([&] { return tracers() == "[]\n"; }));
}
