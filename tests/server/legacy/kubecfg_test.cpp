// Requests and responses of the kubecfg of Kubernetes v0.2 and v0.4: recorded from the original
// programs, replayed here. tests/server/kubecfg/README.md describes how to record.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <regex>

#include "build_paths.hpp"
#include "server/fixtures/legacy_fixture.hpp"

namespace troupe::server {

using testing::legacy_test;
using testing::rest_answer;

namespace {

struct exchange_pair {
  std::string method;
  std::string target;
  std::string body;
  int status = 0;
  std::string answer;
};

// Blocks of "> METHOD TARGET", "> BODY", "< STATUS", "< BODY"; other lines are comments.
std::vector<exchange_pair> read_pairs(const std::filesystem::path& path) {
  std::vector<exchange_pair> out;
  std::ifstream in(path);
  REQUIRE(in);
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("> ") && (out.empty() || out.back().status != 0)) {
      exchange_pair next;
      const auto space = line.find(' ', 2);
      next.method = line.substr(2, space - 2);
      next.target = line.substr(space + 1);
      out.push_back(next);
    } else if (line.starts_with("> ")) {
      out.back().body = line.substr(2);
    } else if (line.starts_with("< ") && out.back().status == 0) {
      out.back().status = std::stoi(line.substr(2));
    } else if (line.starts_with("< ")) {
      out.back().answer = line.substr(2);
    }
  }
  return out;
}

// Replaces the parts that differ from run to run.
std::string normal(std::string text) {
  static const std::pair<std::regex, const char*> rules[] = {
      {std::regex(R"re("resourceVersion":"?[0-9]+"?)re"), R"("resourceVersion":R)"},
      {std::regex(R"re("(uu?id)":"[0-9a-f-]{36}")re"), R"("$1":"U")"},
      {std::regex(R"re("creationTimestamp":"[^"]+")re"), R"("creationTimestamp":"T")"},
      {std::regex(R"re("portalIP":"[^"]+")re"), R"("portalIP":"P")"},
  };
  for (const auto& [pattern, with] : rules)
    text = std::regex_replace(text, pattern, with);
  return text;
}

// The value of a member in the previous response, as JSON.
std::string member(const std::string& json, const std::string& name) {
  std::smatch found;
  const std::regex pattern("\"" + name + R"re(":("[^"]*"|[0-9]+))re");
  return std::regex_search(json, found, pattern) ? found[1].str() : std::string("null");
}

// A client writes back what it read.
std::string filled(std::string body, const std::string& before) {
  for (const auto* name : {"resourceVersion", "uid", "uuid", "creationTimestamp", "portalIP"}) {
    const std::regex recorded("\"" + std::string(name) + R"re(":("[UTP]"|R))re");
    body =
        std::regex_replace(body, recorded, "\"" + std::string(name) + "\":" + member(before, name));
  }
  return body;
}

void prepare(legacy_test& api) {
  REQUIRE(api.old("POST", "/minions", R"({"id":"minion-1","labels":{"a":"b"}})").status == 200);
}

void play(const std::string& file) {
  legacy_test api;
  prepare(api);
  const auto pairs =
      read_pairs(std::filesystem::path(TROUPE_SOURCE_DIR) / "tests/server/kubecfg" / file);
  REQUIRE(pairs.size() > 20);
  std::string before;
  for (const auto& each : pairs) {
    INFO(each.method << " " << each.target << " " << each.body);
    auto got = api.old(each.method, "/" + each.target, filled(each.body, before));
    // On a slow machine a write becomes an operation; the client polls it until it is done.
    while (got.status == 202 && each.status == 200)
      got = api.old("GET", "/operations/" + got.at("details.id") + "?sync=true");
    CHECK(got.status == each.status);
    CHECK(normal(got.text()) == normal(each.answer));
    before = got.text();
  }
}

}  // namespace

TEST_CASE("the requests of kubecfg v0.2 are answered as it needs it") {
  play("v0.2.txt");
}

TEST_CASE("the requests of kubecfg v0.4 are answered as it needs it") {
  play("v0.4.txt");
}

TEST_CASE("serves the 2014 API until standard input ends, to record from", "[.serve]") {
  legacy_test api;
  prepare(api);
  std::cout << api.old_where().port << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
  }
}

}  // namespace troupe::server
