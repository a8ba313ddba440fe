#include "config/table.hpp"

#include <catch2/catch.hpp>
#include <fstream>
#include <random>
#include <set>

#include "build_paths.hpp"
#include "config/access.hpp"
#include "config/render.hpp"
#include "config/support.hpp"

using namespace troupe::config;
using namespace troupe::config::test;
using Catch::Matchers::Contains;

namespace {

using random_source = std::mt19937_64;

std::int64_t number_between(std::int64_t minimum, std::int64_t maximum, random_source& random) {
  return std::uniform_int_distribution<std::int64_t>(minimum, maximum)(random);
}

std::string word(random_source& random, std::string_view letters, std::size_t maximum) {
  std::string result;
  const auto length = number_between(1, static_cast<std::int64_t>(maximum), random);
  for (std::int64_t i = 0; i < length; ++i)
    result += letters[random() % letters.size()];
  return result;
}

constexpr std::string_view plugin_letters = "abcXYZ019-_./";
constexpr std::string_view path_letters = "abcXYZ019-_./ ~!@#$%^&*(){}[]:;'\"\\|<>,?`=+";

value any_value(const setting& row, random_source& random) {
  switch (row.at.form) {
    case form::count:
      return number_between(row.minimum, row.maximum, random);
    case form::duration:
      return duration{number_between(row.minimum, row.maximum, random)};
    case form::size:
      return byte_size{number_between(row.minimum, row.maximum, random)};
    case form::address: {
      const auto port = static_cast<std::uint16_t>(number_between(1, 65'535, random));
      return address{random() % 2 == 0 ? "::1" : word(random, "abc019", 12), port};
    }
    case form::ip_address:
      return std::string(random() % 2 == 0 ? "10.0.0.5" : "fd00::5");
    case form::choice:
      return std::string(row.at.choices[random() % row.at.choices.size()]);
    case form::path:
      return word(random, path_letters, 40);
    case form::dns_name:
      return word(random, "abc019", 20);
    case form::names: {
      names result;
      for (auto n = random() % 5; n > 0; --n)
        result.push_back(word(random, plugin_letters, 20));
      return result;
    }
    case form::weights:
      break;
  }
  weights result;
  for (auto n = random() % 5; n > 0; --n) {
    result.emplace(word(random, plugin_letters, 20),
                   number_between(row.minimum, row.maximum, random));
  }
  return result;
}

node_config any_config(random_source& random) {
  node_config result;
  for (const auto& row : table())
    row.at.set(result, any_value(row, random));
  auto& kubelet = result.kubelet;
  if (kubelet.runtime != pod_runtime::simulated)
    kubelet.simulated_nodes = defaults::simulated_nodes;
  kubelet.cri_endpoint = "unix:///" + kubelet.cri_endpoint.string();
  if (kubelet.lease_renew >= kubelet.lease_duration) {
    kubelet.lease_duration = duration{3'600'000};
    kubelet.lease_renew = duration{1'000};
  }
  kubelet.image_gc_low_threshold = kubelet.image_gc_high_threshold - 1;
  kubelet.image_maximum_gc_age = kubelet.image_minimum_gc_age + duration{1'000};
  auto& etcd = result.etcd;
  if (etcd.endpoints.empty()) etcd.endpoints = {"https://10.0.0.1:2379"};
  if (etcd.cert.empty() != etcd.key.empty()) etcd.key = etcd.cert;
  return result;
}

}  // namespace

TEST_CASE("every row is complete and no two share a name") {
  std::set<std::string> in_files, in_flags, in_environments;
  for (const auto& row : table()) {
    CAPTURE(row.name);
    CHECK_FALSE(row.about.empty());
    CHECK(row.about.back() == '.');
    CHECK(in_files.insert(yaml_name(row)).second);
    CHECK(in_flags.insert(flag_name(row)).second);
    CHECK(in_environments.insert(environment_name(row)).second);
    const bool number =
        row.at.form == form::count || row.at.form == form::duration || row.at.form == form::size;
    CHECK(row.unit.empty() != number);
    if (number) CHECK(row.maximum != std::numeric_limits<std::int64_t>::max());
  }
}

TEST_CASE("every default has the form and range that the table asks for") {
  for (const auto& row : table()) {
    CAPTURE(row.name);
    const auto standing = row.at.get(node_config{});
    if (row.derived.empty()) CHECK(read(row, write(standing)) == standing);
  }
}

TEST_CASE("names are derived from the row") {
  const auto* row = &table()[0];
  for (const auto& each : table()) {
    if (each.name == "store.history_time") row = &each;
  }
  CHECK(yaml_name(*row) == "store.historyTime");
  CHECK(flag_name(*row) == "store-history-time");
  CHECK(environment_name(*row) == "TROUPE_STORE_HISTORY_TIME");
}

TEST_CASE("a printed configuration loads as the same configuration") {
  random_source random(642);
  for (int i = 0; i < 500; ++i) {
    const loaded_config before{any_config(random), {}};
    auto shown = before;
    for (const auto& row : table())
      shown.sources.emplace(row.name, "a test");
    const auto text = render_yaml(shown);
    scratch_folder folder;
    const auto after = load({.file = folder.write("node.yaml", text)});
    INFO(text);
    REQUIRE(after);
    for (const auto& row : table()) {
      CAPTURE(row.name);
      REQUIRE(row.at.get(after->config) == row.at.get(before.config));
    }
  }
}

TEST_CASE("environment and flags carry every value that a file can") {
  random_source random(551);
  for (int i = 0; i < 500; ++i) {
    const auto before = any_config(random);
    inputs from;
    for (const auto& row : table()) {
      const auto text = write(row.at.get(before));
      if (random() % 2 == 0) {
        from.flags.emplace_back(flag_name(row), text);
      } else {
        from.environment.emplace_back(environment_name(row), text);
      }
    }
    const auto after = load(from);
    INFO(refused(from));
    REQUIRE(after);
    for (const auto& row : table()) {
      CAPTURE(row.name);
      REQUIRE(row.at.get(after->config) == row.at.get(before));
    }
  }
}

TEST_CASE("printing says where each value is from") {
  const auto loaded = load({.flags = {{"listen", "127.0.0.1:7000"}}, .host_name = "host"});
  const auto text = render_yaml(*loaded);
  CHECK_THAT(text, Contains("apiVersion: config.troupe.dev/v1\nkind: NodeConfiguration\n"));
  CHECK_THAT(text, Contains("listen: 127.0.0.1:7000  # --listen"));
  CHECK_THAT(text, Contains("nodeName: host  # default"));
}

TEST_CASE("a secret is neither printed nor repeated in messages") {
  const setting rows[] = {{.name = "kubelet.node_name",
                           .at = at<&node_config::kubelet, &kubelet_config::node_name>(),
                           .about = "A secret name.",
                           .secret = true}};
  const auto good = load({.flags = {{"kubelet-node-name", "hushhush"}}}, rows);
  REQUIRE(good);
  const auto text = render_yaml(*good, rows);
  CHECK_THAT(text, !Contains("hushhush"));
  CHECK_THAT(text, Contains("# nodeName: not shown, from --kubelet-node-name"));
  const auto bad = load({.flags = {{"kubelet-node-name", "Hush Hush"}}}, rows);
  REQUIRE_FALSE(bad);
  CHECK_THAT(lines(bad.error()), !Contains("Hush"));
}

TEST_CASE("docs/configuration.md equals the generated table") {
  std::ifstream in(TROUPE_SOURCE_DIR "/docs/configuration.md");
  const std::string written{std::istreambuf_iterator<char>(in), {}};
  INFO("troupe config docs > docs/configuration.md brings it up to date");
  CHECK(written == render_docs());
}
