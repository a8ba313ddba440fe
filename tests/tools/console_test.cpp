// The console's client: its commands, and a real node behind it.
#include <catch2/catch.hpp>
#include <fstream>

#include "build_paths.hpp"
#include "support/programs/eventually.hpp"
#include "support/scratch_folder.hpp"
#include "tools/console/console_command.hpp"
#include "tools/console/console_screen.hpp"
#include "tools/console_node.hpp"

using namespace troupe::tools;
using namespace troupe::tools::test;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;
using troupe::test::scratch_folder;

TEST_CASE("words are split as in a shell") {
  CHECK(console_words("  a  'b c' \"d\"e ") == std::vector<std::string>{"a", "b c", "de"});
  CHECK(console_words("--x ''") == std::vector<std::string>{"--x", ""});
  CHECK(console_words(" ").empty());
  CHECK(parse_console_line("why 'cm/a", false).error() == "a quote ' is not closed");
}

TEST_CASE("a line of the screen is cut by characters, not by bytes") {
  CHECK(fitting("caf\xC3\xA9s", 4) == "caf\xC3\xA9");
  CHECK(fitting("caf\xC3\xA9s", 3) == "caf");
  CHECK(fitting("caf\xC3\xA9s", 80) == "caf\xC3\xA9s");
  CHECK(fitting("cafe", 0).empty());
}

TEST_CASE("help explains a command, and reports unknown ones") {
  CHECK_THAT(console_help("why").value(), StartsWith("why OBJECT"));
  CHECK_THAT(console_help("").value(), Contains("why") && Contains("quit"));
  CHECK_THAT(console_help("whi").error(), Contains("did you mean why"));
}

TEST_CASE("a line of the console is a request, or one line that says why not") {
  const auto line = parse_console_line("actors web --sort=busy --top 3", false);
  REQUIRE(line);
  CHECK(line->request.path == "actors");
  CHECK(line->request.query.at("match") == "web");
  CHECK(line->request.query.at("sort") == "busy");
  CHECK(line->request.query.at("top") == "3");
  CHECK_FALSE(line->request.changes);
  CHECK(parse_console_line("", false)->command == nullptr);
  const auto [text, problem] = GENERATE(table<std::string, std::string>({
      {"actorz", "there is no command actorz; did you mean actors?; help lists them"},
      {"actor", "actor: missing argument; usage: actor ACTOR"},
      {"actor a b", "actor: unexpected argument \"b\""},
      {"actors --sord x", "there is no flag --sord; did you mean --sort?"},
      {"actors --top", "actors: --top needs a value"},
      {"kill writer", "kill changes the state: start the console with --allow-control"},
      {"log debug", "log changes the state"},
  }));
  const auto wrong = parse_console_line(text, false);
  REQUIRE_FALSE(wrong);
  CHECK_THAT(wrong.error(), StartsWith(problem));
}

TEST_CASE("with the right to control the same lines change something") {
  const auto killed = parse_console_line("kill writer", true);
  REQUIRE(killed);
  CHECK(killed->request.changes);
  CHECK_FALSE(parse_console_line("log", true)->request.changes);
  CHECK(parse_console_line("log debug", true)->request.changes);
}

TEST_CASE("every command has help that names its usage") {
  for (const auto& each : console_commands()) {
    CHECK_THAT(console_help("").value(), Contains("  " + each.name));
    CHECK_THAT(console_help(each.name).value(), StartsWith(each.name + " " + each.usage));
  }
}

TEST_CASE("the console attaches to a running node by its data dir") {
  const console_node running;
  const auto shown = running.console({"-c", "actors --kind writer", "-c", "store"});
  CHECK(shown.err.empty());
  CHECK(shown.code == 0);
  CHECK_THAT(shown.out, StartsWith("ACTOR") && Contains("writer/writer") && Contains("REVISION"));
  CHECK_THAT(running.console({"--output", "json", "-c", "actors --kind writer"}).out,
             StartsWith("[{\"actor\":\"writer/writer\""));
  CHECK_THAT(running.console({"--output", "yaml", "-c", "actors --kind writer"}).out,
             StartsWith("- actor: \"writer/writer\""));
  CHECK_THAT(running.console({"-c", "top"}).out, Contains("KINDS") && Contains("FSYNC-P99"));

  const auto missing = running.console({"-c", "actor nobody"});
  CHECK(missing.code == 1);
  CHECK_THAT(missing.err, StartsWith("troupe: there is no actor \"nobody\""));
  CHECK(running.console({"-c", "sing"}).code == 2);
  CHECK(running.console({"-c", "quit", "-c", "sing"}).code == 0);
  const std::string script =
      "printf 'store\\nsing\\nstore\\nquit\\nactor nobody\\n' | " TROUPE_BINARY_DIR
      "/troupe console --data-dir ";
  const auto read = run({"/bin/sh", "-c", script + running.folder()});
  CHECK(read.code == 2);
  CHECK_THAT(read.err, Contains("no command sing") && !Contains("nobody"));
  const auto nowhere = running.console({"--node", "nowhere", "-c", "actors"});
  CHECK(nowhere.code == 1);
  CHECK_THAT(nowhere.err, Contains("nowhere"));
  CHECK(running.console({"--node", "nowhere", "-c", "store"}).code == 0);
  CHECK(running.console({"--node", "nowhere", "-c", "trace"}).code == 1);

  CHECK(running.console({"-c", "restart recorder"}).code == 2);
  CHECK(running.console({"--allow-control", "-c", "restart recorder"}).code == 0);
  CHECK(troupe::test::eventually([&] {
    return running.console({"-c", "actor recorder/recorder"}).out.find("by hand, by local-admin") !=
           std::string::npos;
  }));

  CHECK_THAT(program({"console", "--kubeconfig", running.kubeconfig(), "-c", "cluster"}).out,
             Contains("NODES"));
}

TEST_CASE("the console is refused without credentials, with a message") {
  const console_node running;
  const auto token = running.folder() + "/wrong-token";
  std::ofstream{token} << "not-the-token\n";
  const auto server = running.server();
  const auto authority = running.folder() + "/pki/ca.crt";
  const auto nobody = program({"console", "--server", server, "--ca-file", authority, "-c", "top"});
  CHECK(nobody.code == 1);
  CHECK_THAT(nobody.err, Contains("credentials are needed"));
  const auto wrong = program(
      {"console", "--server", server, "--ca-file", authority, "--token-file", token, "-c", "top"});
  CHECK(wrong.code == 1);
  CHECK_THAT(wrong.err, Contains("Unauthorized"));
  const auto strange = program({"console", "--server", server, "--token-file", token, "-c", "top"});
  CHECK(strange.code == 1);
  CHECK_THAT(strange.err, Contains("not signed by a known authority"));
}

TEST_CASE("the console says which node it cannot reach") {
  CHECK_THAT(program({"console", "-c", "top"}).err, Contains("no node is given"));
  CHECK_THAT(program({"console", "--data-dir", "/nonexistent", "-c", "top"}).err,
             Contains("/nonexistent/admin.kubeconfig: cannot be read"));
  scratch_folder folder;
  const auto file = folder.path() / "config";
  std::ofstream{file} << "current-context: a\ncontexts: []\n";
  CHECK_THAT(program({"console", "--kubeconfig", file.string(), "-c", "top"}).err,
             Contains("the context \"a\" is not in it"));
}
