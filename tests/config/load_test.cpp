#include "config/load.hpp"

#include <catch2/catch.hpp>

#include "config/support.hpp"

using namespace troupe::config;
using namespace troupe::config::test;
using namespace std::chrono_literals;
using Catch::Matchers::Contains;

namespace {

const std::string header = "apiVersion: config.troupe.dev/v1\nkind: NodeConfiguration\n";

std::string refused_file(const std::string& body) {
  const auto read = read_yaml(header + body, "troupe.yaml", table());
  auto all = read.problems;
  for (const auto& given : read.assignments) {
    if (!troupe::config::read(*given.row, given.text))
      all.push_back(refusal(*given.row, given.place, given.text));
  }
  return lines(all);
}

}  // namespace

TEST_CASE("without any source a node has its defaults") {
  const auto loaded = load({.host_name = "Worker_1.Example.ORG"});
  REQUIRE(loaded);
  CHECK(loaded->config.data_dir == "./var");
  CHECK(loaded->config.server.listen == address{"127.0.0.1", 6443});
  CHECK(loaded->config.server.legacy_listen.empty());
  CHECK(loaded->config.kubelet.node_name == "worker-1.example.org");
  CHECK(loaded->config.kubelet.root_dir == "./var/kubelet");
  CHECK(loaded->config.kubelet.lease_duration == 40s);
  CHECK(loaded->sources.at("server.listen") == "default");
}

TEST_CASE("the timeouts of etcd are settings, within bounds") {
  const auto loaded =
      load({.environment = {{"TROUPE_ETCD_READ_TIMEOUT", "500ms"}},
            .flags = {{"etcd-transaction-timeout", "4s"}, {"etcd-answer-timeout", "20s"}},
            .host_name = "host"});
  REQUIRE(loaded);
  CHECK(loaded->config.etcd.transaction_timeout == 4s);
  CHECK(loaded->config.etcd.read_timeout == 500ms);
  CHECK(loaded->config.etcd.answer_timeout == 20s);
  CHECK_THAT(refused_flag("etcd-answer-timeout", "10ms"), Contains("from 1s to 30s"));
}

TEST_CASE("flags win over the environment, the environment over the file") {
  scratch_folder folder;
  const auto file = folder.write("node.yaml", header +
                                                  "dataDir: /from/file\n"
                                                  "server: {listen: '127.0.0.1:1'}\n"
                                                  "log:\n"
                                                  "  level: debug\n");
  const auto loaded = load({.file = file,
                            .environment = {{"TROUPE_LISTEN", "127.0.0.1:2"},
                                            {"TROUPE_DATA_DIR", "/from/environment"},
                                            {"PATH", "/bin"}},
                            .flags = {{"listen", "127.0.0.1:3"}},
                            .host_name = "host"});
  REQUIRE(loaded);
  CHECK(loaded->config.server.listen.port == 3);
  CHECK(loaded->sources.at("server.listen") == "--listen");
  CHECK(loaded->config.data_dir == "/from/environment");
  CHECK(loaded->sources.at("data_dir") == "TROUPE_DATA_DIR");
  CHECK(loaded->config.kubelet.root_dir == "/from/environment/kubelet");
  CHECK(loaded->config.log.level == log_level::debug);
  CHECK(loaded->sources.at("log.level") == file.string() + ":6");
}

TEST_CASE("TROUPE_CONFIG names the file unless a flag does") {
  scratch_folder folder;
  const auto one = folder.write("one.yaml", header + "kubelet: {nodeName: one}\n");
  const auto two = folder.write("two.yaml", header + "kubelet: {nodeName: two}\n");
  const pairs environment = {{"TROUPE_CONFIG", one.string()}};
  CHECK(load({.environment = environment})->config.kubelet.node_name == "one");
  CHECK(load({.file = two, .environment = environment})->config.kubelet.node_name == "two");
}

TEST_CASE("lists and weights are read from every source") {
  scratch_folder folder;
  const auto file =
      folder.write("node.yaml", header +
                                    "scheduler:\n"
                                    "  profile: 2014\n"
                                    "  enabled: [NodePorts, ImageLocality]\n"
                                    "  weights: {NodeAffinity: 2, TaintToleration: 3}\n");
  const auto loaded = load({.file = file, .flags = {{"scheduler-disabled", "NodeName,NodePorts"}}});
  REQUIRE(loaded);
  const auto& scheduler = loaded->config.scheduler;
  CHECK(scheduler.profile == scheduler_profile::y2014);
  CHECK(scheduler.enabled == names{"NodePorts", "ImageLocality"});
  CHECK(scheduler.disabled == names{"NodeName", "NodePorts"});
  CHECK(scheduler.weights == weights{{"NodeAffinity", 2}, {"TaintToleration", 3}});
}

TEST_CASE("a value of the wrong form is refused in one line with source, key and expected form") {
  CHECK(refused_flag("listen", "6443") ==
        "--listen: server.listen: expected HOST:PORT, such as 127.0.0.1:6443 or [::1]:6443; "
        "found \"6443\"");
  CHECK(refused_flag("store-history-time", "soon") ==
        "--store-history-time: store.historyTime: expected a duration from 1s to 720h, such as 10s "
        "or 1m30s; found \"soon\"");
  CHECK(refused_flag("server-max-body", "1Gi") ==
        "--server-max-body: server.maxBody: expected a size from 64Ki to 64Mi, such as 512Ki or "
        "3Mi; found \"1Gi\"");
  CHECK(refused_flag("runtime", "docker") ==
        "--runtime: kubelet.runtime: expected one of auto, process, cri, simulated; found "
        "\"docker\"");
  CHECK(
      refused_flag("kubelet-max-pods", "0") ==
      "--kubelet-max-pods: kubelet.maxPods: expected a whole number from 1 to 100000; found \"0\"");
  CHECK_THAT(refused_flag("node-name", "My_Node"), Contains("expected a DNS name"));
  CHECK_THAT(refused_flag("data-dir", ""), Contains("expected a path;"));
  CHECK_THAT(refused_flag("etcd-ca", std::string{"a\0b", 3}),
             Contains("expected a path, or nothing: the machine's CA certificates;"));
  CHECK_THAT(refused_flag("scheduler-weights", "NodeAffinity=101"),
             Contains("expected names with weights from 0 to 100"));
  CHECK_THAT(refused_flag("scheduler-enabled", "a,,b"), Contains("expected a list"));
  CHECK(refused({.environment = {{"TROUPE_LISTEN", ""}}}) ==
        "TROUPE_LISTEN: server.listen: expected HOST:PORT, such as 127.0.0.1:6443 or [::1]:6443; "
        "found \"\"");
}

TEST_CASE("the file's problems name its lines") {
  CHECK(refused_file("server:\n  listn: a:1\n") ==
        "troupe.yaml:4: server.listn: no key has this name; did you mean server.listen?");
  CHECK(refused_file("data_dir: /x\n") ==
        "troupe.yaml:3: data_dir: no key has this name; did you mean dataDir?");
  CHECK(refused_file("dataDir: [a]\n") == "troupe.yaml:3: dataDir: expected a path; found a list");
  CHECK_THAT(refused_file("log:\n  level:\n"),
             Contains("troupe.yaml:4: log.level: expected one of"));
  CHECK(refused_file("log: loud\n") ==
        "troupe.yaml:3: log: expected a map of keys; found \"loud\"");
  CHECK(refused_file("log:\n  level: info\n  level: info\n") ==
        "troupe.yaml:5: log.level: given twice, first in line 4");
  CHECK_THAT(refused_file("scheduler: {enabled: 'NodePorts'}\n"), Contains("expected a list"));
  CHECK_THAT(refused_file("scheduler: {enabled: ['a,b']}\n"), Contains("expected a list"));
  CHECK_THAT(refused_file("scheduler: {weights: {a: [1]}}\n"), Contains("expected names with"));
  CHECK(refused_file("log:\n").empty());
}

TEST_CASE("a file that is no configuration is refused") {
  const auto refuse = [](const std::string& text) {
    return lines(read_yaml(text, "x.yaml", table()).problems);
  };
  CHECK(refuse("kind: NodeConfiguration\n") ==
        "x.yaml:1: apiVersion: expected config.troupe.dev/v1; found nothing");
  CHECK(refuse("apiVersion: config.troupe.dev/v1\nkind: Pod\n") ==
        "x.yaml:2: kind: expected NodeConfiguration; found \"Pod\"");
  CHECK_THAT(refuse("a: [1\n"), Contains("x.yaml:") && Contains("not YAML"));
  CHECK_THAT(refuse(header + "---\n" + header), Contains("expected one YAML document; found 2"));
  // A name must be one line of the log, whatever it contains.
  CHECK(refuse(header + "\"a\\nb\": 1\n").find('\n') == std::string::npos);
  CHECK_THAT(refuse("- a\n"), Contains("expected a map of keys; found a list"));
  CHECK_THAT(refuse(std::string(100'000, '[')), Contains("not YAML"));
  CHECK_THAT(refuse(header + "? [a]\n: b\n"), Contains("expected the name of a key"));
}

TEST_CASE("a file that cannot be read is refused") {
  scratch_folder folder;
  CHECK_THAT(refused({.file = folder.path() / "absent.yaml"}),
             Contains("absent.yaml: cannot read the config file: No such file or directory"));
  CHECK_THAT(refused({.file = folder.path()}), Contains("cannot read the config file"));
  const auto large = folder.write("large.yaml", std::string((1 << 20) + 1, '#'));
  CHECK_THAT(refused({.file = large}), Contains("larger than a config file may be"));
}

TEST_CASE("an unknown name in the environment or among the flags is refused") {
  CHECK(refused({.environment = {{"TROUPE_LISTEM", "x"}}}) ==
        "TROUPE_LISTEM: no key has this name; did you mean TROUPE_LISTEN?");
  CHECK(refused_flag("completely-else", "x") == "--completely-else: no key has this name");
}

TEST_CASE("every problem is reported, also that of an overridden value") {
  CHECK(
      refused({.environment = {{"TROUPE_LOG_LEVEL", "loud"}}, .flags = {{"log-level", "info"}}}) ==
      "TROUPE_LOG_LEVEL: log.level: expected one of trace, debug, info, warning, error; found "
      "\"loud\"");
  const auto two = load({.flags = {{"log-level", "a"}, {"log-format", "b"}}});
  REQUIRE_FALSE(two);
  CHECK(two.error().size() == 2);
}

TEST_CASE("a log level is warning or warn") {
  for (const std::string word : {"warn", "warning"}) {
    const auto loaded = load({.flags = {{"log-level", word}}});
    REQUIRE(loaded);
    CHECK(loaded->config.log.level == log_level::warning);
  }
}

TEST_CASE("values that contradict each other are refused") {
  CHECK(refused_flag("kubelet-lease-duration", "5s") ==
        "default: kubelet.leaseRenew: expected a duration shorter than kubelet.leaseDuration, 5s; "
        "found 10s");
  CHECK(refused_flag("kubelet-image-gc-high-threshold", "80") ==
        "default: kubelet.imageGcLowThreshold: expected a percentage below "
        "kubelet.imageGcHighThreshold, 80; found 80");
  CHECK(refused_flag("kubelet-image-maximum-gc-age", "2m") ==
        "--kubelet-image-maximum-gc-age: kubelet.imageMaximumGcAge: expected a duration longer "
        "than kubelet.imageMinimumGcAge, 2m, or 0; found 2m");
  CHECK(
      refused_flag("simulated-nodes", "5") ==
      "--simulated-nodes: kubelet.simulatedNodes: only the simulated runtime has simulated nodes; "
      "add --runtime simulated");
  CHECK_THAT(refused_flag("legacy-listen", "127.0.0.1:6443"), Contains("expected another address"));
  CHECK(refused({.flags = {{"simulated-nodes", "5"}, {"runtime", "simulated"}}}).empty());
}

TEST_CASE("messages show texts from outside without control characters and cut") {
  CHECK(shown("a\nb\x1b[1m") == "\"a?b?[1m\"");
  CHECK(shown(std::string(1000, 'x')) == "\"" + std::string(60, 'x') + "…\"");
  CHECK(shown(std::string(59, 'x') + "\u00e9\u00e9") == "\"" + std::string(59, 'x') + "…\"");
}

TEST_CASE("the name of a host becomes the name of a node") {
  CHECK(node_name_of("host") == "host");
  CHECK(node_name_of("My_Host.Lan.") == "my-host.lan");
  CHECK(node_name_of("-a-.-b-") == "a.b");
  CHECK(node_name_of("") == "localhost");
  CHECK(node_name_of("___") == "localhost");
  const auto long_name = node_name_of(std::string(63, 'a') + "." + std::string(200, 'b'));
  CHECK(long_name == std::string(63, 'a'));
}
