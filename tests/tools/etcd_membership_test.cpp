#include <catch2/catch.hpp>

#include "tools/etcd/membership.hpp"

using namespace troupe::tools;

namespace {

enum class kind : std::uint8_t { well, silent, leaderless, learner, unstarted };

std::string url(const std::string& name, int port) {
  return "https://" + name + ":" + std::to_string(port);
}

member_view view(std::uint64_t id, const std::string& name, kind of = kind::well) {
  member_view made;
  made.member = {.id = id,
                 .name = of == kind::unstarted ? "" : name,
                 .peer_urls = {url(name, 2380)},
                 .client_urls = {url(name, 2379)},
                 .is_learner = of == kind::learner || of == kind::unstarted};
  if (of == kind::silent || of == kind::unstarted) return made;
  made.status.emplace();
  made.status->member = id;
  made.status->leader = of == kind::leaderless ? 0 : 1;
  return made;
}

std::string refusal_to_join(const member_views& members, const std::string& name = "new") {
  const auto plan = plan_join(members, name, url(name, 2380));
  REQUIRE_FALSE(plan);
  return plan.error();
}

join_plan plan(const member_views& members, const std::string& name) {
  const auto made = plan_join(members, name, url(name, 2380));
  REQUIRE(made);
  return *made;
}

}  // namespace

TEST_CASE("a machine becomes a member of an etcd while all members are well") {
  CHECK(plan({view(1, "a")}, "new").first == join_plan::step::add);
  CHECK(plan({view(1, "a"), view(2, "b"), view(3, "c")}, "new").first == join_plan::step::add);
  CHECK(refusal_to_join({view(1, "a"), view(2, "b", kind::silent)})
            .starts_with("member b does not answer"));
  CHECK(refusal_to_join({view(1, "a"), view(2, "b", kind::leaderless)})
            .starts_with("member b knows no leader"));
  CHECK(refusal_to_join({view(1, "a"), view(2, "b", kind::learner)})
            .starts_with("member b is still joining"));
  CHECK(refusal_to_join({view(1, "a"), view(2, "b", kind::unstarted)})
            .starts_with("member https://b:2380 is still joining"));
  member_views seven;
  for (std::uint64_t i = 1; i <= 7; ++i)
    seven.push_back(view(i, std::string(1, static_cast<char>('a' + i))));
  CHECK(refusal_to_join(seven).starts_with("it has 7 members"));
}

TEST_CASE("a machine that was cut off while it joined goes on in its place") {
  const auto made = plan({view(1, "a"), view(2, "new", kind::unstarted)}, "new");
  CHECK(made.first == join_plan::step::take_over);
  CHECK(made.id == 2);
}

TEST_CASE("a machine with lost data replaces its former member while a majority is left") {
  const auto made = plan({view(1, "a"), view(2, "new", kind::silent), view(3, "c")}, "new");
  CHECK(made.first == join_plan::step::replace);
  CHECK(made.id == 2);
  CHECK(refusal_to_join({view(1, "a"), view(2, "new", kind::silent)})
            .starts_with("only one of 2 members is left, which is no majority"));
  // Not all other members are healthy.
  CHECK(refusal_to_join({view(1, "a"), view(2, "new", kind::silent), view(3, "c", kind::silent)})
            .starts_with("member c does not answer"));
}

TEST_CASE("no two members have one name or one address") {
  CHECK(refusal_to_join({view(1, "new")}).find("give this one another name") != std::string::npos);
  const auto plan = plan_join({view(1, "a")}, "b", url("a", 2380));
  REQUIRE_FALSE(plan);
  CHECK(plan.error().starts_with("a member a at https://a:2380 is there already"));
}

TEST_CASE("a member goes when a majority of the rest is well, and the last one never") {
  CHECK(plan_removal({view(1, "a"), view(2, "b"), view(3, "c")}, "b") == 2u);
  CHECK(plan_removal({view(1, "a"), view(2, "b"), view(3, "c", kind::silent)}, "c") == 3u);
  CHECK(plan_removal({view(1, "a"), view(2, "b")}, "b") == 2u);
  CHECK(plan_removal({view(1, "a"), view(2, "b", kind::unstarted)}, "https://b:2380") == 2u);
  const auto refused = [](const member_views& members, const std::string& name) {
    const auto id = plan_removal(members, name);
    REQUIRE_FALSE(id);
    return id.error();
  };
  CHECK(refused({view(1, "a")}, "a") == "a is the last member and has the only data");
  CHECK(refused({view(11, "a")}, "b") == "a is the last member and has the only data");  // its id
  CHECK(refused({view(1, "a"), view(2, "b", kind::silent)}, "b")
            .starts_with("without b only 1 of 1"));
  CHECK(refused({view(1, "a"), view(2, "b"), view(3, "c", kind::silent)}, "a")
            .starts_with("without a only 1 of 2 members would be healthy"));
  CHECK(refused({view(1, "a")}, "x").starts_with("there is no member x"));
}

TEST_CASE("a member is known by its address, before its first start and after its removal") {
  const auto own_id = [](const member_views& members) {
    const auto found = find_own(members, "b", url("b", 2380));
    REQUIRE(found);
    return found->value_or(0);
  };
  CHECK(own_id({view(1, "a"), view(2, "b")}) == 2);
  CHECK(own_id({view(1, "a"), view(2, "b", kind::unstarted)}) == 2);
  CHECK(own_id({view(1, "a")}) == 0);
  // Another machine has its name: that one stays.
  const auto taken = find_own({view(1, "a"), view(2, "b")}, "b", url("old-b", 2380));
  REQUIRE_FALSE(taken);
  CHECK(taken.error().starts_with("member b is another machine now, at https://b:2380"));
}

TEST_CASE("how many members may be lost is said in words") {
  CHECK(tolerance_text(1) == "1 member: the loss of none is tolerated");
  CHECK(tolerance_text(2).starts_with(
      "2 members: the loss of none is tolerated, the failure of either"));
  CHECK(tolerance_text(3) == "3 members: the loss of 1 is tolerated");
  CHECK(tolerance_text(4) == "4 members: the loss of 1 is tolerated, as with one fewer");
  CHECK(tolerance_text(5) == "5 members: the loss of 2 is tolerated");
}

TEST_CASE("a starting member gets the addresses of started members only") {
  CHECK(initial_cluster({view(1, "a").member, view(2, "new", kind::unstarted).member}, "new",
                        url("new", 2380)) == "new=https://new:2380,a=https://a:2380");
}

TEST_CASE("an early change of members is distinguished from a refused one") {
  using troupe::persistence::errc;
  CHECK(is_too_early({errc::io, "etcd at x: etcdserver: unhealthy cluster"}));
  CHECK(is_too_early({errc::invalid, "etcd at x: etcdserver: member not found"}));
  CHECK_FALSE(is_too_early({errc::invalid, "etcd at x: etcdserver: Peer URLs already exists"}));
}
