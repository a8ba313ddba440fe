// The specification of DNS-based service discovery, name by name.
#include <algorithm>
#include <catch2/catch.hpp>

#include "actors/network/defaults.hpp"
#include "actors/network/dns/dns_answer.hpp"
#include "actors/network/dns/service_records.hpp"
#include "actors/network/dns_questions.hpp"
#include "support/network/service_examples.hpp"

namespace troupe::test {

using namespace actors::dns;

namespace {

const std::string zone = *to_wire("cluster.local");

struct names {
  table_maker maker;
  std::minstd_rand random{1};

  names() { maker.replace("/", domain_records(zone, "10.96.0.10")); }

  void put(const api::object_ptr& service, std::vector<api::object_ptr> slices = {}) {
    maker.replace(service->meta().namespace_() + "/" + service->meta().name(),
                  records_of(*service, slices, zone));
  }
  answer raw(const std::string& name, record_type type) {
    const auto asked = read_question(ask(name, type));
    return answer_from(*maker.table(), zone, *asked, random, 65'535);
  }
  heard_answer get(const std::string& name, record_type type) {
    auto heard = heard_in(raw(name, type).bytes);
    std::sort(heard.answers.begin(), heard.answers.end());
    return heard;
  }
  std::vector<std::string> lines(const std::string& name, record_type type) {
    return get(name, type).answers;
  }
};

using lines = std::vector<std::string>;

}  // namespace

TEST_CASE("a service has its address, its named ports and a reverse name", "[dns]") {
  names c;
  c.put(service_object("web", "10.96.0.20", {{"http", 80}, {"", 81}}));
  CHECK(c.lines("web.default.svc.cluster.local", record_type::a) ==
        lines{"web.default.svc.cluster.local A 10.96.0.20"});
  const auto port = c.get("_http._tcp.web.default.svc.cluster.local", record_type::srv);
  CHECK(port.answers == lines{"_http._tcp.web.default.svc.cluster.local SRV 80 "
                              "web.default.svc.cluster.local"});
  CHECK(port.additional == lines{"web.default.svc.cluster.local A 10.96.0.20"});
  CHECK(c.lines("20.0.96.10.in-addr.arpa", record_type::ptr) ==
        lines{"20.0.96.10.in-addr.arpa PTR web.default.svc.cluster.local"});
  CHECK(c.lines("dns-version.cluster.local", record_type::txt) ==
        lines{"dns-version.cluster.local TXT 1.1.0"});
}

TEST_CASE("a name without the type that is asked for exists, and so does one above it", "[dns]") {
  names c;
  c.put(service_object("web", "10.96.0.20", {{"http", 80}}));
  for (const auto* name :
       {"web.default.svc.cluster.local", "default.svc.cluster.local", "svc.cluster.local",
        "cluster.local", "a.pod.cluster.local", "_tcp.web.default.svc.cluster.local"}) {
    INFO(name);
    const auto heard = c.get(name, record_type::aaaa);
    CHECK(heard.code == response_code::no_error);
    CHECK(heard.authoritative);
    CHECK(heard.answers.empty());
    CHECK(heard.authority.size() == 1);
  }
  for (const auto* name : {"api.default.svc.cluster.local", "other.svc.cluster.local",
                           "a.web.default.svc.cluster.local", "x.cluster.local"}) {
    INFO(name);
    CHECK(c.get(name, record_type::a).code == response_code::no_such_name);
  }
}

TEST_CASE("a headless service has the addresses of its ready endpoints", "[dns]") {
  names c;
  const auto service = service_object("db", "None", {{"sql", 5'432}});
  c.put(service, {slice_object("db", {{"sql", 5'432}},
                               {{.address = "10.42.0.5", .hostname = "db-0"},
                                {.address = "10.42.0.6"},
                                {.address = "10.42.0.7", .ready = false}})});
  CHECK(c.lines("db.default.svc.cluster.local", record_type::a) ==
        lines{"db.default.svc.cluster.local A 10.42.0.5",
              "db.default.svc.cluster.local A 10.42.0.6"});
  CHECK(c.lines("db-0.db.default.svc.cluster.local", record_type::a) ==
        lines{"db-0.db.default.svc.cluster.local A 10.42.0.5"});
  CHECK(c.lines("5.0.42.10.in-addr.arpa", record_type::ptr) ==
        lines{"5.0.42.10.in-addr.arpa PTR db-0.db.default.svc.cluster.local"});
  CHECK(c.get("_sql._tcp.db.default.svc.cluster.local", record_type::srv).additional.size() == 2);
  c.put(service,
        {slice_object("db", {{"sql", 5'432}}, {{.address = "10.42.0.7", .ready = false}})});
  CHECK(c.get("db.default.svc.cluster.local", record_type::a).code == response_code::no_such_name);
  CHECK(c.get("default.svc.cluster.local", record_type::a).code == response_code::no_such_name);
}

TEST_CASE("an external name is an alias that is followed", "[dns]") {
  names c;
  c.put(service_object("web", "10.96.0.20", {}));
  c.put(external_service("inside", "web.default.svc.cluster.local"));
  c.put(external_service("outside", "www.example.com"));
  CHECK(c.lines("inside.default.svc.cluster.local", record_type::a).size() == 2);
  const auto outside = c.raw("outside.default.svc.cluster.local", record_type::a);
  CHECK(outside.forward);
  CHECK(to_text(outside.elsewhere) == "www.example.com");
  CHECK(c.lines("outside.default.svc.cluster.local", record_type::cname).size() == 1);
}

TEST_CASE("aliases in a circle end", "[dns]") {
  names c;
  c.put(external_service("a", "b.default.svc.cluster.local"));
  c.put(external_service("b", "a.default.svc.cluster.local"));
  CHECK(c.get("a.default.svc.cluster.local", record_type::a).code == response_code::server_failure);
}

TEST_CASE("a pod's address has a name, other names are somebody else's", "[dns]") {
  names c;
  CHECK(c.lines("10-42-0-5.default.pod.cluster.local", record_type::a) ==
        lines{"10-42-0-5.default.pod.cluster.local A 10.42.0.5"});
  CHECK(c.get("10-42-0.default.pod.cluster.local", record_type::a).code ==
        response_code::no_such_name);
  CHECK(c.raw("example.com", record_type::a).forward);
  CHECK(c.raw("1.2.0.192.in-addr.arpa", record_type::ptr).forward);
  CHECK(c.raw("com", record_type::a).forward);
}

TEST_CASE("a table after any changes is that of the services that are left", "[dns]") {
  std::minstd_rand random{7};
  table_maker changed;
  std::map<std::string, std::vector<named_record>> left;
  const auto wire = [](int a, int b) {
    return *to_wire("n" + std::to_string(a) + ".m" + std::to_string(b) + ".zone");
  };
  table_ptr earlier = changed.table();
  for (int step = 0; step < 3'000; ++step) {
    const auto source = "s" + std::to_string(random() % 12);
    std::vector<named_record> records;
    for (auto count = random() % 5; count > 0; --count)
      records.emplace_back(random() % 4 == 0
                               ? *to_wire("m" + std::to_string(random() % 3) + ".zone")
                               : wire(random() % 4, random() % 3),
                           address_record("10.0.0." + std::to_string(random() % 3)));
    changed.replace(source, records);
    left[source] = records;
    if (step % 100 != 0) continue;
    table_maker fresh;
    for (const auto& [name, all] : left)
      fresh.replace(name, all);
    const auto now = changed.table(), expected = fresh.table();
    const auto check = [&](const std::string& name) {
      const auto *a = now->find(name), *b = expected->find(name);
      REQUIRE((a == nullptr) == (b == nullptr));
      if (a == nullptr) return;
      auto x = *a, y = *b;
      const auto order = [](const record& l, const record& r) { return l.data < r.data; };
      std::sort(x.begin(), x.end(), order);
      std::sort(y.begin(), y.end(), order);
      CHECK(x == y);
    };
    for (int b = 0; b < 3; ++b) {
      check(*to_wire("m" + std::to_string(b) + ".zone"));
      for (int a = 0; a < 4; ++a)
        check(wire(a, b));
    }
    check(*to_wire("zone"));
  }
  CHECK(earlier->find(*to_wire("zone")) == nullptr);
}

}  // namespace troupe::test
