// Whether control planes serve a log is known from what they renew.
#include "persistence/move/live_servers.hpp"

#include <catch2/catch.hpp>

#include "persistence/fixture.hpp"
#include "persistence/model_log.hpp"
#include "persistence/replica/forwarding_log.hpp"
#include "persistence/replica/log_record.hpp"

namespace troupe::persistence::testing {
namespace {

using namespace std::chrono_literals;

const std::string records = "/registry/leases/kube-system/apiserver-";

// A log in which a control plane renews its record before each look.
class renewed_log final : public forwarding_log {
 public:
  renewed_log(model_cluster& cluster, shared_log& log) : forwarding_log{log}, cluster_{cluster} {}
  ~renewed_log() override { end(); }

  void list(log_range range, std::function<void(expected<log_page>)> done) override {
    cluster_.execute({{}, {{records + "one", "renewed"}}});
    log().list(std::move(range), std::move(done));
  }

 private:
  model_cluster& cluster_;
};

struct looked_at {
  model_cluster cluster;
  model_log log{cluster, {}};
  blocking_log asked{log, "the model", 60s};

  std::optional<std::string> server(std::chrono::milliseconds limit) {
    const auto found = find_live_server(asked, records, limit);
    REQUIRE(found);
    return *found;
  }
};

}  // namespace

TEST_CASE("a control plane that renews its record serves the log", "[move][replica]") {
  const captured_log quiet;
  looked_at shared;
  renewed_log renewed{shared.cluster, shared.log};
  blocking_log asked{renewed, "the model", 60s};
  const auto found = find_live_server(asked, records, 60s);
  REQUIRE(found);
  CHECK(*found == "one");
}

TEST_CASE("the records of control planes that were killed do not keep a log from being copied",
          "[move][replica]") {
  const captured_log quiet;
  looked_at shared;
  shared.cluster.execute({{}, {{"/registry/leases/kube-system/apiservers", "of another kind"}}});
  CHECK_FALSE(shared.server(60s));
  shared.cluster.execute({{}, {{records + "one", "not renewed"}}});
  CHECK_FALSE(shared.server(150ms));
}

TEST_CASE("a leader serves the log until its lease ends", "[move][replica]") {
  const captured_log quiet;
  looked_at shared;
  const auto lease = shared.cluster.grant();
  shared.cluster.execute(
      {{}, {{std::string{leader_key}, leader_text({0, "two", "number", {}}), lease}}});
  CHECK(shared.server(150ms) == "two");
  shared.cluster.end(lease);
  CHECK_FALSE(shared.server(60s));
}

}  // namespace troupe::persistence::testing
