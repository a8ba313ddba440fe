#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>

#include "build_paths.hpp"
#include "support/scratch_folder.hpp"
#include "tools/child.hpp"

using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;
using troupe::test::scratch_folder;
using troupe::tools::test::program;

TEST_CASE("without arguments the program explains itself") {
  const auto shown = program({});
  CHECK(shown.code == 0);
  CHECK_THAT(shown.out, Contains("Usage: troupe") && Contains("node") && Contains("completion"));
}

TEST_CASE("help explains each subcommand as its --help does") {
  const auto path = GENERATE(std::vector<std::string>{"node"}, std::vector<std::string>{"config"},
                             std::vector<std::string>{"config", "print"});
  auto with_flag = path;
  with_flag.push_back("--help");
  auto with_help = path;
  with_help.insert(with_help.begin(), "help");
  const auto flag = program(with_flag);
  const auto help = program(with_help);
  CHECK(flag.code == 0);
  CHECK(help.code == 0);
  CHECK(flag.out == help.out);
  CHECK_THAT(help.out, Contains("Usage: troupe " + path.front()));
}

TEST_CASE("help without a subcommand explains the whole program as --help does") {
  const auto help = program({"help"});
  CHECK(help.code == 0);
  CHECK(help.out == program({"--help"}).out);
  CHECK_THAT(help.out, Contains("rolling-update"));
}

TEST_CASE("help distinguishes files from directories") {
  const auto help = program({"node", "--help"});
  for (const std::string flag : {"--etcd-ca", "--etcd-cert", "--etcd-key", "--cri-endpoint"})
    CHECK_THAT(help.out, Contains(flag + " FILE"));
  for (const std::string flag : {"--data-dir", "--root-dir"})
    CHECK_THAT(help.out, Contains(flag + " DIR"));
}

TEST_CASE("a log level may be written warn") {
  const auto shown = program({"config", "print", "--log-level", "warn"});
  CHECK(shown.code == 0);
  CHECK_THAT(shown.out, Contains("level: warning  # --log-level"));
}

TEST_CASE("a wrong command line is one line on stderr and exit code 2") {
  const auto [arguments, line] = GENERATE(table<std::vector<std::string>, std::string>({
      {{"node", "--listne", "x"}, "troupe node has no flag --listne; did you mean --listen?"},
      {{"node", "--data-dir"}, "--data-dir: 1 required DIR missing"},
      {{"nodes"}, "The following argument was not expected: nodes"},
      {{"help", "nodes"}, "troupe has no subcommand nodes"},
      {{"config"}, "expected a subcommand: print, validate or docs; see troupe config --help"},
      {{"store"}, "expected a subcommand: verify, salvage, copy, backup or restore; see troupe s"},
      {{"completion"}, "shell is required"},
      {{"completion", "tcsh"}, "expected a shell: bash, zsh or fish; found \"tcsh\""},
      {{"config", "validate", "--log-level", "loud"}, "--log-level: log.level: expected one of"},
      {{"wait", "rc/x", "--for", "delete", "--poll", "0"},
       "--poll: \"0\" is too short: at least 10ms"},
      {{"rolling-update", "x", "--poll", "9ms"}, "--poll: \"9ms\" is too short"},
      {{"rolling-update", "x", "--image", ""}, "--image: expected the name of an image"},
      {{"node", "--store-history-time=9"}, "--store-history-time: store.historyTime: expected"},
  }));
  CAPTURE(line);
  const auto refused = program(arguments);
  CHECK(refused.code == 2);
  CHECK(refused.out.empty());
  CHECK_THAT(refused.err, StartsWith("troupe: ") && Contains(line));
  CHECK(std::count(refused.err.begin(), refused.err.end(), '\n') == 1);
}

TEST_CASE("output that cannot be written is a failure") {
  for (const std::string command : {"config print", "--help", "--version", "completion bash"}) {
    INFO(command);
    const auto line = TROUPE_BINARY_DIR "/troupe " + command + " >/dev/full 2>/dev/null";
    CHECK(WEXITSTATUS(std::system(line.c_str())) == 1);
  }
}

TEST_CASE("a wrong configuration is one line for each problem and exit code 2") {
  const scratch_folder folder;
  const auto file = folder.write("node.yaml",
                                 "apiVersion: config.troupe.dev/v1\n"
                                 "kind: NodeConfiguration\n"
                                 "log: {level: loud}\n");
  const auto refused =
      program({"config", "validate", "--config", file.string()}, {"TROUPE_LISTEN=here"});
  CHECK(refused.code == 2);
  CHECK_THAT(refused.err,
             StartsWith("troupe: " + file.string() + ":3: log.level: expected one of"));
  CHECK_THAT(refused.err, Contains("\ntroupe: TROUPE_LISTEN: server.listen: expected HOST:PORT"));
}

TEST_CASE("an unknown scheduler plugin is refused before a node starts") {
  const scratch_folder folder;
  const auto file = folder.write("node.yaml",
                                 "apiVersion: config.troupe.dev/v1\n"
                                 "kind: NodeConfiguration\n"
                                 "scheduler: {disabled: [DefaultBinder]}\n");
  const auto command =
      GENERATE(std::vector<std::string>{"config", "validate"}, std::vector<std::string>{"node"});
  auto arguments = command;
  for (const auto& each : {"--config", file.c_str(), "--scheduler-enabled", "NodePort",
                           "--scheduler-weights", "Foo=3", "--data-dir", "/dev/null/none"})
    arguments.push_back(each);
  const auto refused = program(arguments);
  CHECK(refused.code == 2);
  CHECK(refused.out.empty());
  CHECK(std::count(refused.err.begin(), refused.err.end(), '\n') == 3);
  CHECK_THAT(refused.err, Contains("troupe: --scheduler-enabled: scheduler.enabled: there is no "
                                   "scheduler plugin \"NodePort\"; did you mean NodePorts?") &&
                              Contains(file.string() + ":3: scheduler.disabled: there is no "
                                                       "scheduler plugin \"DefaultBinder\"") &&
                              Contains("--scheduler-weights: scheduler.weights: there is no "
                                       "scheduler plugin \"Foo\"; known are DefaultPreemption, "));
  const auto known =
      program({"config", "validate", "--scheduler-enabled", "NodePorts", "--scheduler-disabled",
               "NodePorts", "--scheduler-weights", "NodeAffinity=3"});
  CHECK(known.code == 0);
}

TEST_CASE("an unknown controller is refused before a node starts, and help names all") {
  const auto refused = program({"config", "validate", "--controllers", "*,-job,-jbs,foo"});
  CHECK(refused.code == 2);
  CHECK_THAT(
      refused.err,
      Contains("troupe: --controllers: controllers: there is no controller \"jbs\"; did you "
               "mean jobs?") &&
          Contains(
              "there is no controller \"foo\"; known are api-service-registrar, autoscaling, "));
  CHECK(program({"config", "validate", "--controllers", "*,-deployment-controller"}).code == 0);
  CHECK(program({"config", "validate", "--controllers", ""}).code == 2);
  CHECK_THAT(program({"node", "--help"}).out, Contains("garbage-collector"));
}

TEST_CASE("config print shows the effective values with their sources") {
  const auto shown = program(
      {"config", "print", "--listen", "127.0.0.1:1", "--listen=127.0.0.1:2", "--legacy-listen="},
      {"TROUPE_NODE_NAME=here"});
  CHECK(shown.code == 0);
  CHECK_THAT(shown.out, Contains("listen: 127.0.0.1:2  # --listen\n"));
  CHECK_THAT(shown.out, Contains("legacyListen: \"\"  # --legacy-listen\n"));
  CHECK_THAT(shown.out, Contains("nodeName: here  # TROUPE_NODE_NAME\n"));

  const scratch_folder folder;
  const auto file = folder.write("node.yaml", shown.out);
  const auto again = program({"config", "validate", "--config", file.string()});
  CHECK(again.err.empty());
  CHECK(again.code == 0);
}

TEST_CASE("version and documentation are printed") {
  CHECK_THAT(program({"version"}).out, StartsWith("troupe "));
  CHECK(program({"--version"}).out == program({"version"}).out);
  CHECK_THAT(program({"config", "docs"}).out, Contains("### store.historyTime"));
}
