// The judge finds each kind of contradiction.
#include "system/planes/history_checker.hpp"

#include <catch2/catch.hpp>

#include "persistence/replica/log_record.hpp"

using namespace troupe::test;
using Catch::Matchers::Contains;
using troupe::persistence::cause_key;
using troupe::persistence::leader_key;

namespace {

const std::string maps = "/registry/configmaps/default/", pods = "/registry/pods/default/",
                  services = "/registry/services/specs/default/";
using answer = write_record::answer;
using moment = std::chrono::steady_clock::time_point;

moment second(int number) {
  return moment{std::chrono::seconds{number}};
}

log_change cause(const std::string& member, const std::string& author = "replicaset-controller") {
  return {std::string{cause_key}, member + " 1 0 0 0 " + author, 2};
}

log_change leader(const std::string& node) {
  return {std::string{leader_key}, node + " candidate 1", 2};
}

// Two leaders in turn, a and b; writes of config maps; a pod that is replaced; one watch.
evidence good() {
  evidence made;
  made.watched = maps;
  made.pods = pods;
  made.owners = {{pods, 1, 1}};
  made.pods_of_node = 1;
  made.services = services;
  made.history = {{2, {leader("a")}},
                  {3, {{maps + "x", "<1>", 3}}},
                  {4, {{pods + "p", "", 4}, cause("A")}},
                  {5, {{maps + "x", "<2>", 3}}},
                  {6, {{std::string{leader_key}, std::nullopt, 0}}},
                  {7, {leader("b")}},
                  {8, {{pods + "p", std::nullopt, 0}}},
                  {9, {{pods + "q", "", 9}, cause("B")}},
                  {10, {{maps + "x", std::nullopt, 0}}},
                  {11, {{maps + "y", "<3>", 11}}}};
  made.writes = {{maps + "x", "<1>", answer::done, 3, second(1), second(2)},
                 {maps + "x", "<2>", answer::done, 5, second(3), second(4), 3},
                 {maps + "x", "", answer::done, 0, second(5), second(6)},
                 {maps + "y", "<3>", answer::unknown, 0, second(7), second(8)},
                 {maps + "z", "<4>", answer::refused, 0, second(7), second(8)}};
  made.reads = {{maps + "x", 0, 2}, {maps + "x", 3, 4}, {maps + "x", 5, 4}, {maps + "x", 0, 10}};
  made.lists = {{5, 5, true, 1, digest_of("x", 5)},
                {6, 5, false, 1, digest_of("x", 5)},
                {10, 9, true, 0, 0},
                {11, 11, true, 1, digest_of("y", 11)}};
  made.watches = {
      {3,
       11,
       {{5, "MODIFIED", "x", "<2>"}, {10, "DELETED", "x", "<2>"}, {11, "ADDED", "y", "<3>"}}},
      {3, 11, {{5, "DELETED", "x", "<1>"}, {11, "ADDED", "y", "<3>"}}, true}};
  made.states = {{"a", {{"y", 11}}}, {"b", {{"y", 11}}}};
  return made;
}

std::string problems_of(const evidence& found) {
  std::string all;
  for (const auto& each : evaluate(found))
    all += each + "\n";
  return all;
}

}  // namespace

TEST_CASE("what was told agrees with the history", "[planes][judge]") {
  CHECK(problems_of(good()) == "");
}

TEST_CASE("what contradicts the history is found", "[planes][judge]") {
  auto found = good();
  SECTION("a hole") {
    found.history.erase(found.history.begin() + 4);
    CHECK_THAT(problems_of(found), Contains("the history goes from revision 5 to 7"));
  }
  SECTION("a pod that cannot be read") {
    found.history[2].changes[0].value = "unreadable";
    CHECK_THAT(problems_of(found), Contains(pods + "p at revision 4 cannot be read"));
  }
  SECTION("a write that is lost") {
    found.history[1].changes[0].value = "<9>";
    CHECK_THAT(problems_of(found), Contains("write <1> was acknowledged at 3, and happened at 0"));
  }
  SECTION("a write that is doubled") {
    found.history[9].changes[0].value = "<2>";
    CHECK_THAT(problems_of(found), Contains("write <2> happened 2 times"));
  }
  SECTION("a refusal of what happened") {
    found.writes[3].told = answer::refused;
    CHECK_THAT(problems_of(found), Contains("write <3> was refused, and happened at 11"));
  }
  SECTION("a refusal of a deletion that happened") {
    for (auto& each : found.writes)
      if (each.marker.empty()) each.told = answer::refused;
    CHECK_THAT(problems_of(found), Contains("the deletion of " + maps + "x was refused"));
  }
  SECTION("a deletion that is lost") {
    found.history[8].changes[0].key = maps + "other";
    CHECK_THAT(problems_of(found), Contains("the deletion of " + maps + "x was acknowledged"));
  }
  SECTION("revisions against time") {
    found.writes[1].sent = second(0);
    found.writes[1].answered = second(0);
    CHECK_THAT(problems_of(found), Contains("<1> was written at 3, after revision 5"));
  }
  SECTION("a write over another one than its client had seen") {
    found.writes[1].expected = 2;
    CHECK_THAT(problems_of(found),
               Contains("write <2> expected revision 2 of " + maps + "x, and replaced revision 3"));
  }
  SECTION("a creation over an object") {
    found.writes[1].expected = 0;
    CHECK_THAT(problems_of(found), Contains("write <2> expected revision 0"));
  }
  SECTION("a read of an old state") {
    found.reads[1].after = 5;
    CHECK_THAT(problems_of(found),
               Contains("a read showed " + maps + "x at revision 3, and 5 had been told before"));
  }
  SECTION("a read of a state that there never was") {
    found.reads[2].shown = 4;
    CHECK_THAT(problems_of(found), Contains("a read showed " + maps + "x at revision 4"));
  }
  SECTION("a read that misses an object") {
    found.reads[3].key = maps + "y";
    found.reads[3].after = 11;
    CHECK_THAT(problems_of(found),
               Contains("a read showed " + maps + "y at revision 0, and 11 had been told before"));
  }
  SECTION("a list of an old state") {
    found.lists[0].digest = digest_of("x", 3);
    CHECK_THAT(problems_of(found), Contains("a list of 1 objects at revision 5 is not that of"));
  }
  SECTION("a list without an object") {
    found.lists[3].count = 0;
    found.lists[3].digest = 0;
    CHECK_THAT(problems_of(found), Contains("a list of 0 objects at revision 11 is not that of"));
  }
  SECTION("a list with an object too many") {
    found.lists[2].count = 1;
    CHECK_THAT(problems_of(found), Contains("a list of 1 objects at revision 10 is not that of"));
  }
  SECTION("a list that is older than a response") {
    found.lists[0].after = 6;
    CHECK_THAT(problems_of(found),
               Contains("a list showed revision 5, and 6 had been told before"));
  }
  SECTION("a leader that was deposed") {
    found.history[7].changes[1] = cause("A");
    CHECK_THAT(problems_of(found), Contains("revision 9 is of control plane A, and b led"));
  }
  SECTION("a write of a leader's controller that was deposed") {
    for (const char* author :
         {"scheduler/default-scheduler", "replicaset-controller/default/web", "garbage-collector",
          "endpoint-controller/default/web", "namespaces", "pod/web-1", "supervisor/pods",
          "deployment-controller/default/web", "clusterrole-aggregation-controller"}) {
      auto late = good();
      late.history[9].changes.push_back(cause("A", author));
      CHECK_THAT(problems_of(late), Contains("revision 11 is of control plane A, and b led"));
    }
  }
  SECTION("a client's write through a control plane that does not lead") {
    found.history[9].changes.push_back(cause("A", "kubernetes-admin"));
    CHECK(problems_of(found) == "");
  }
  SECTION("a pod while nobody leads") {
    found.history[5].changes = {{maps + "n", "", 7}};
    CHECK_THAT(problems_of(found), Contains("revision 9 is a leader's, and nobody led"));
  }
  SECTION("a pod too many") {
    found.history[6].changes[0].key = pods + "other";
    CHECK_THAT(problems_of(found), Contains("2 pods of 1 were there at revision 9"));
  }
  SECTION("a pod in place of one that is being deleted") {
    found.history[4].changes = {{pods + "p", "m1 terminating", 4}};
    found.history[6].changes[0].key = pods + "other";
    CHECK(problems_of(found) == "");
  }
  SECTION("a pod too few at the end") {
    found.history[7].changes.erase(found.history[7].changes.begin());
    CHECK_THAT(problems_of(found), Contains("0 pods of 1 are there at the end"));
  }
  SECTION("a pod that is bound twice") {
    found.history[2].changes[0].value = "m1";
    found.history[4].changes = {{pods + "p", "m2", 4}};
    CHECK_THAT(problems_of(found), Contains("p was bound to m1 and is bound to m2 at revision 6"));
  }
  SECTION("a binding that is lost") {
    found.history[2].changes[0].value = "m1";
    found.history[4].changes = {{pods + "p", "-", 4}};
    CHECK_THAT(problems_of(found), Contains("p was bound to m1 and is bound to  at revision 6"));
  }
  SECTION("a node that has room again") {
    found.history[2].changes[0].value = "m1";
    found.history[7].changes[0].value = "m1";
    CHECK(problems_of(found) == "");
  }
  SECTION("a node with more pods than it has room for") {
    found.history[2].changes[0].value = "m1";
    found.history[4].changes = {{"/registry/pods/default/other", "m1", 6}};
    CHECK_THAT(problems_of(found),
               Contains("2 pods are on m1 at revision 6, which has room for 1"));
  }
  SECTION("addresses and ports that are given again") {
    found.history[1].changes.push_back({services + "a", "10.96.0.7 30001/TCP ", 3});
    found.history[3].changes.push_back({services + "b", "10.96.0.8 30001/UDP ", 5});
    found.history[8].changes.push_back({services + "a", std::nullopt, 0});
    found.history[9].changes.push_back({services + "c", "10.96.0.7 30001/TCP ", 11});
    CHECK(problems_of(found) == "");
  }
  SECTION("an address of two services") {
    found.history[1].changes.push_back({services + "a", "10.96.0.7 ", 3});
    found.history[3].changes.push_back({services + "b", "10.96.0.7 ", 5});
    CHECK_THAT(problems_of(found),
               Contains("b has 10.96.0.7 at revision 5, and so has " + services + "a"));
  }
  SECTION("a node port of two services") {
    found.history[1].changes.push_back({services + "a", "10.96.0.7 30001/TCP ", 3});
    found.history[3].changes.push_back({services + "b", "10.96.0.8 30001/TCP ", 5});
    CHECK_THAT(problems_of(found), Contains("b has 30001/TCP at revision 5"));
  }
  SECTION("an event that is missing") {
    found.watches[0].events.erase(found.watches[0].events.begin() + 1);
    CHECK_THAT(problems_of(found),
               Contains("told ADDED y <3> at 11 where the history has DELETED x <2> at 10"));
  }
  SECTION("an event that comes twice") {
    found.watches[0].events.push_back(found.watches[0].events.back());
    CHECK_THAT(problems_of(found),
               Contains("told ADDED y <3> at 11 where the history has nothing"));
  }
  SECTION("an event with an old object") {
    found.watches[0].events[0].marker = "<1>";
    CHECK_THAT(problems_of(found),
               Contains("told MODIFIED x <1> at 5 where the history has MODIFIED x <2> at 5"));
  }
  SECTION("a deletion that does not show what was deleted") {
    found.watches[0].events[1].marker = "";
    CHECK_THAT(problems_of(found), Contains("where the history has DELETED x <2> at 10"));
  }
  SECTION("an object that ceases to match and is not deleted from a selection") {
    found.watches[1].events.erase(found.watches[1].events.begin());
    CHECK_THAT(problems_of(found),
               Contains("told ADDED y <3> at 11 where the history has DELETED x <1> at 5"));
  }
  SECTION("a control plane with another state") {
    found.states["b"]["y"] = 10;
    CHECK_THAT(problems_of(found), Contains("b shows 1 config maps"));
  }
}
