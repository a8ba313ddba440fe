// An object's past in the console: `history` and `why`, also with a lot of history.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <future>

#include "api/schema/core_event.pb.h"
#include "api/scheme.hpp"
#include "server/fixtures/console_fixture.hpp"

using namespace troupe;
using namespace troupe::server::testing;
using Catch::Matchers::Contains;

namespace {

const std::string maps = "/api/v1/namespaces/default/configmaps";

void create_map(console_test& t, const std::string& name) {
  REQUIRE(t.post(maps, R"({"metadata":{"name":")" + name + R"("}})").status == 201);
}

void annotate(test::http_client& client, const std::string& map, int value) {
  client.request("PATCH", maps + "/" + map,
                 fmt::format(R"({{"metadata":{{"annotations":{{"n":"{}"}}}}}})", value),
                 {{"content-type", "application/merge-patch+json"}});
}

void post_event(console_test& t, const std::string& name, const std::string& map,
                const std::string& uid, const std::string& reason) {
  const auto body = fmt::format(
      R"({{"metadata":{{"name":"{}"}},"reason":"{}","message":"m","involvedObject":{{"kind":)"
      R"("ConfigMap","namespace":"default","name":"{}","uid":"{}"}}}})",
      name, reason, map, uid);
  REQUIRE(t.post("/api/v1/namespaces/default/events", body).status == 201);
}

// Events of unrelated objects, in one transaction.
void write_events(persistence::store& store, const std::string& begin, int count) {
  using api::core::v1::Event;
  const auto& kind = api::kind_of<Event>();
  persistence::transaction transaction;
  for (int i = 0; i < count; ++i) {
    auto event = std::make_unique<Event>();
    event->mutable_metadata()->set_name(fmt::format("{}{}", begin, i));
    event->mutable_metadata()->set_namespace_("default");
    event->mutable_involved_object()->set_name("other");
    const auto key = kind.key("default", event->metadata().name());
    transaction.mutations.push_back({key, &kind, std::move(event)});
  }
  std::promise<bool> done;
  store.submit(std::move(transaction),
               [&](const auto& result) { done.set_value(result.has_value()); });
  REQUIRE(done.get_future().get());
}

}  // namespace

TEST_CASE("why begins with the object's creation, and says how much it leaves out") {
  console_test t;
  create_map(t, "big");
  test::http_client client{t.where()};
  for (int i = 0; i < 14; ++i)
    annotate(client, "big", i);
  const auto why = t.show("why?object=cm/big");
  INFO(why.text());
  REQUIRE(why.size("") == 12);
  CHECK(why.at("0.what") == "configmaps/default/big was created");
  CHECK(why.at("0.by") == "admin");
  CHECK_THAT(why.at("1.what"), Contains("4 changes left out"));
  const auto revision = [&](const char* at) { return std::stoll(why.at(at)); };
  CHECK(revision("1.revision") > revision("0.revision"));
  CHECK(revision("1.revision") < revision("2.revision"));
  CHECK_THAT(why.at("11.what"), Contains("metadata.annotations"));
}

TEST_CASE("why says that the log does not reach back to the object's creation") {
  console_test t;
  create_map(t, "old");
  test::http_client client{t.where()};
  annotate(client, "old", 1);
  REQUIRE(t.plane().store().compact(t.plane().store().read().at()).has_value());
  annotate(client, "old", 2);
  const auto why = t.show("why?object=cm/old");
  INFO(why.text());
  REQUIRE(why.size("") == 2);
  CHECK_THAT(why.at("0.what"), Contains("no longer in the log"));
  CHECK_THAT(why.at("1.what"), Contains("metadata.annotations"));
}

TEST_CASE("an object whose last change is no longer in the log is not called missing") {
  console_test t;
  create_map(t, "old");
  const auto at = t.plane().store().read().at();
  REQUIRE(t.plane().store().compact(at).has_value());
  const auto why = t.show("why?object=cm/old");
  INFO(why.text());
  REQUIRE(why.size("") == 1);
  CHECK_THAT(why.at("0.what"), Contains("no longer in the log"));
  const auto history = t.show("history?object=cm/old");
  INFO(history.text());
  REQUIRE(history.size("") == 1);
  CHECK(history.at("0.type") == "forgotten");
  CHECK(history.at("0.revision") == why.at("0.revision"));
  CHECK(t.show("history?object=cm/none").status == 404);
}

TEST_CASE("history shows an earlier object of the same name, and why leaves it out") {
  console_test t;
  create_map(t, "c");
  const auto uid = json_text{t.get(maps + "/c").text()}.at("metadata.uid");
  post_event(t, "c.1", "c", uid, "Earlier");
  test::http_client{t.where()}.request("DELETE", maps + "/c", {}, {});
  create_map(t, "c");
  post_event(t, "c.2", "c", json_text{t.get(maps + "/c").text()}.at("metadata.uid"), "Present");
  post_event(t, "c.3", "c", "", "Anonymous");
  const auto history = t.show("history?object=cm/c");
  INFO(history.text());
  REQUIRE(history.size("") == 3);
  CHECK(history.at("0.type") == "created");
  CHECK(history.at("0.earlier") == "true");
  CHECK(history.at("1.type") == "removed");
  CHECK(history.at("1.earlier") == "true");
  CHECK(history.at("2.type") == "created");
  CHECK(history.at("2.earlier") == "false");
  const auto why = t.show("why?object=cm/c").text();
  CHECK_THAT(why, !Contains("Earlier: m"));
  CHECK_THAT(why, Contains("Present: m"));
  CHECK_THAT(why, Contains("Anonymous: m"));
}

TEST_CASE("history of no changes is an empty list, not a missing object") {
  console_test t;
  create_map(t, "c");
  const auto none = t.show("history?object=cm/c&top=0");
  CHECK(none.status == 200);
  CHECK(none.size("") == 0);
}

TEST_CASE("why finds an object's events among very many, and says that it did not see all") {
  console_test t;
  for (int i = 0; i < 3; ++i)
    write_events(t.plane().store(), fmt::format("a{}-", i), 7'000);
  create_map(t, "z");
  post_event(t, "z.1", "z", "", "Found");
  const auto why = t.show("why?object=cm/z");
  INFO(why.text());
  CHECK_THAT(why.text(), Contains("Found: m"));
  CHECK_THAT(why.at(fmt::format("{}.what", why.size("") - 1)), Contains("20000 events"));
  create_map(t, "few");
  post_event(t, "a", "few", "", "Odd");
  CHECK_THAT(t.show("why?object=cm/few").text(), Contains("Odd: m"));
}
