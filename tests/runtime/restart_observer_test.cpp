// Notifications of an actor about the restart of another.
#include "runtime/restart_observer.hpp"

#include <catch2/catch.hpp>
#include <memory>
#include <stdexcept>
#include <vector>

#include "runtime/defaults.hpp"
#include "runtime/simulation.hpp"

namespace troupe::runtime {

namespace {

using namespace std::chrono_literals;

struct explode {
  int starts = 0;  // number of failed starts after it
};
struct quit {};
struct look_away {};

// Counts down: this many starts throw.
using failures = std::shared_ptr<int>;

class server : public actor {
 public:
  explicit server(failures left) : left_{std::move(left)} {}
  const behavior& make_behavior() const override {
    static const behavior table = handlers(&server::on_explode);
    return table;
  }
  void started() override {
    if (*left_ > 0 && (*left_)-- > 0) throw std::runtime_error{"not yet"};
  }

 private:
  void on_explode(const explode& m) {
    *left_ = m.starts;
    throw std::runtime_error{"boom"};
  }
  failures left_;
};

struct sightings {
  std::vector<duration> at;
};

class client : public actor {
 public:
  client(actor_ref server, bool for_good, std::shared_ptr<sightings> seen)
      : server_{std::move(server)}, for_good_{for_good}, seen_{std::move(seen)} {}
  const behavior& make_behavior() const override {
    static const behavior table =
        handlers(&client::on_explode, &client::on_quit, &client::on_look_away);
    return table;
  }
  void started() override { look(); }

 private:
  void look() {
    restarted_ = {*this, server_, [this] {
                    seen_->at.push_back(now().time_since_epoch());
                    if (for_good_) look();
                  }};
  }
  void on_explode(const explode&) { throw std::runtime_error{"boom"}; }
  void on_quit(const quit&) { stop(); }
  void on_look_away(const look_away&) { restarted_.cancel(); }

  actor_ref server_;
  bool for_good_;
  std::shared_ptr<sightings> seen_;
  restart_observer restarted_;
};

struct scene {
  std::shared_ptr<sightings> add(const std::string& name, bool for_good = true) {
    auto seen = std::make_shared<sightings>();
    clients.push_back(all.system().spawn({"client", name}, make<client>(observed, for_good, seen)));
    all.settle();
    return seen;
  }
  void crash(int starts = 0) {
    observed.tell(explode{starts});
    all.advance(60s);
  }

  simulation all{5};
  actor_ref observed = all.system().spawn({"server", "s"}, make<server>(std::make_shared<int>(0)));
  std::vector<actor_ref> clients;
};

}  // namespace

TEST_CASE("an observer learns of each restart of an actor until it unsubscribes", "[runtime]") {
  scene s;
  const auto always = s.add("a"), once = s.add("b", false);
  CHECK(always->at.empty());
  s.crash();
  s.crash();
  CHECK(always->at.size() == 2);
  CHECK(once->at.size() == 1);
  CHECK(s.all.system().restart(s.observed, "by hand"));
  s.all.settle();
  CHECK(always->at.size() == 3);
}

TEST_CASE("a restart is reported once it has succeeded", "[runtime]") {
  scene s;
  const auto seen = s.add("a");
  s.observed.tell(explode{2});
  s.all.advance(defaults::restart_backoff * 2);
  CHECK(seen->at.empty());
  s.all.advance(60s);
  CHECK(seen->at.size() == 1);
}

TEST_CASE("an observer that unsubscribes, ends or restarts gets no more reports", "[runtime]") {
  scene s;
  const auto away = s.add("away"), ended = s.add("ended"), crashed = s.add("crashed");
  s.clients[0].tell(look_away{});
  s.clients[1].tell(quit{});
  s.clients[2].tell(explode{});
  s.all.advance(1s);
  s.crash();
  CHECK(away->at.empty());
  CHECK(ended->at.empty());
  CHECK(crashed->at.size() == 1);
}

TEST_CASE("a thousand observers that came and ended leave those that stay", "[runtime]") {
  scene s;
  const auto first = s.add("first");
  for (int i = 0; i < 1'000; ++i) {
    s.add(std::to_string(i));
    s.clients.back().tell(quit{});
    s.all.settle();
  }
  const auto last = s.add("last");
  s.crash();
  CHECK(first->at.size() == 1);
  CHECK(last->at.size() == 1);
}

}  // namespace troupe::runtime
