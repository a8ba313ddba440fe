// Fair shares of the places for requests in flight, also with slow or many senders.
#include <catch2/catch.hpp>
#include <mutex>

#include "server/fixtures/auth_filter_fixture.hpp"

using namespace troupe;
using namespace troupe::server::testing;
using namespace std::chrono_literals;
using test::http_client;

namespace {

const std::string pods = "/api/v1/pods";
const std::string leases = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/n1";

// Requests that the API keeps unanswered.
class crowd {
 public:
  explicit crowd(filtered_server& at) : at_{at} {
    at.api.on("/api/v1/services", [this](auto&, auto& answer) {
      const std::lock_guard lock{mutex_};
      kept_.push_back(answer);
    });
  }
  void write(const std::string& token) {
    clients_.push_back(std::make_unique<http_client>(at_.client()));
    clients_.back()->send_request("POST", "/api/v1/services", "{}",
                                  filtered_server::headers(token));
  }
  // The number of pending requests that have a place: the others have got a response.
  std::size_t settle(std::size_t sent) {
    REQUIRE(eventually([&] {
      std::size_t answered = 0;
      for (const auto& each : clients_)
        answered += each->connection().has_input() ? 1 : 0;
      const std::lock_guard lock{mutex_};
      return answered + kept_.size() == sent;
    }));
    const std::lock_guard lock{mutex_};
    return kept_.size();
  }

 private:
  filtered_server& at_;
  std::mutex mutex_;
  std::vector<server::responder> kept_;
  std::vector<std::unique_ptr<http_client>> clients_;
};

}  // namespace

TEST_CASE("a body that is still to come takes no place among the requests in flight") {
  filtered_server server{4, 4};
  std::vector<std::unique_ptr<http_client>> slow;
  for (int i = 0; i < 20; ++i) {
    slow.push_back(std::make_unique<http_client>(server.client()));
    slow.back()->connection().send("POST " + pods +
                                   " HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer writer-slow\r\n"
                                   "Content-Length: 100\r\n\r\n{");
  }
  REQUIRE(eventually([&] { return server.server.stats().requests == 20; }));
  CHECK(server.in_flight_.writes() == 0);
  CHECK(server.post(pods, "writer-other").status == 200);
  CHECK(server.post(pods, "writer-slow").status == 200);
  for (const auto& each : slow)
    each->connection().send(std::string(99, ' '));
  for (const auto& each : slow)
    CHECK(each->receive_answer().status == 200);
}

TEST_CASE("one user cannot take all places, and the rest is for others") {
  filtered_server server{40, 40};
  crowd all{server};
  for (int i = 0; i < 60; ++i)
    all.write("writer-greedy");
  const auto taken = all.settle(60);
  // Half of the unreserved places; two concurrent requests may count the same.
  CHECK(taken >= 16);
  CHECK(taken <= 18);
  CHECK(server.post(pods, "writer-greedy").status == 429);
  CHECK(server.post(pods, "writer-other").status == 200);
  CHECK(server.get(pods, "writer-greedy").status == 200);
  // Three more of the same kind: there is still room for a later user.
  for (int user = 0; user < 3; ++user)
    for (int i = 0; i < 20; ++i)
      all.write("writer-greedy" + std::to_string(user));
  CHECK(all.settle(120) < 34);
  CHECK(server.post(pods, "writer-other").status == 200);
}

TEST_CASE("one user does not get all places by streams of HTTP/2, and bodies to come take none") {
  filtered_server server{40, 40, {}, listening::tls};
  std::mutex mutex;
  std::vector<server::responder> kept;
  server.api.on("/api/v1/services", [&](auto&, auto& answer) {
    const std::lock_guard lock{mutex};
    kept.push_back(answer);
  });
  const http_client::fields greedy_user{{"authorization", "Bearer writer-greedy"}};
  const http_client::fields other_user{{"authorization", "Bearer writer-other"}};
  test::http2_client greedy{server.client()};
  REQUIRE(greedy.request("POST", pods, "{}", greedy_user).status == 200);
  const auto begun = server.server.stats().requests;
  auto announced = greedy_user;
  announced["content-length"] = "100";
  for (int i = 0; i < 50; ++i)
    greedy.start("POST", pods, {}, announced);
  REQUIRE(
      eventually([&] { return greedy.ping() && server.server.stats().requests == begun + 50; }));
  CHECK(server.in_flight_.writes() == 0);

  std::vector<std::int32_t> streams;
  for (int i = 0; i < 60; ++i)
    streams.push_back(greedy.start("POST", "/api/v1/services", "{}", greedy_user));
  std::size_t refused = 0;
  REQUIRE(eventually([&] {
    REQUIRE(greedy.ping());
    refused = 0;
    for (const auto each : streams)
      refused += greedy.at(each).ended ? 1 : 0;
    const std::lock_guard lock{mutex};
    return refused + kept.size() == streams.size();
  }));
  // Half of the unreserved places; two concurrent requests may count the same.
  CHECK(kept.size() >= 16);
  CHECK(kept.size() <= 18);
  CHECK(greedy.request("POST", pods, "{}", greedy_user).status == 429);
  CHECK(greedy.request("GET", pods, {}, greedy_user).status == 200);
  // Places belong to the user, not to the connection.
  CHECK(greedy.request("POST", pods, "{}", other_user).status == 200);
  CHECK(test::http2_client{server.client()}.request("POST", pods, "{}", other_user).status == 200);
  for (const auto each : streams)
    if (!greedy.at(each).ended) greedy.reset(each);
  REQUIRE(greedy.ping());
  kept.clear();
  CHECK(eventually([&] { return greedy.request("POST", pods, "{}", greedy_user).status == 200; }));
}

TEST_CASE("administrators and the heartbeats of nodes find a place when users have taken theirs") {
  filtered_server server{400, 40};
  server.api.on(leases, [](auto&, auto& answer) { answer.respond(text_response("renewed")); });
  crowd all{server};
  // Each user gets fewer; in the end no user gets any.
  std::size_t sent = 0;
  for (int user = 0; user < 60; ++user)
    for (int i = 0; i < 3; ++i, ++sent)
      all.write("writer-" + std::to_string(user));
  all.settle(sent);
  CHECK(server.post(pods, "writer-last").status == 429);
  CHECK(server.post(pods, "node-n1").status == 429);
  CHECK(server.post(pods, "master-token").status == 200);
  http_client node{server.client()};
  CHECK(node.request("PUT", leases, "{}", filtered_server::headers("node-n1")).status == 200);
  // Places reserved for nodes are not available to administrators.
  for (int i = 0; i < 10; ++i, ++sent)
    all.write("master-token");
  all.settle(sent);
  CHECK(server.post(pods, "master-token").status == 429);
  CHECK(node.request("PUT", leases, "{}", filtered_server::headers("node-n1")).status == 200);
}

TEST_CASE("a body slower than the least rate is cut off with a 408, a good one is not") {
  server::http_options options;
  options.body_grace = 200ms;
  filtered_server server{400, 200, options};
  const std::string head = "POST " + pods +
                           " HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer writer-a\r\n"
                           "Content-Length: 100000\r\n\r\n";
  http_client slow{server.client()};
  slow.connection().send(head + "{");
  http_client good{server.client()};
  good.connection().send(head + std::string(99'000, ' '));
  http_client refused{server.client()};
  refused.connection().send("POST " + pods + " HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n");
  const auto answer = slow.receive_answer();
  CHECK(answer.status == 408);
  CHECK(answer.body.find("\"reason\":\"RequestTimeout\"") != std::string::npos);
  CHECK(slow.connection().wait_for_end());
  CHECK(refused.receive_answer().status == 403);
  good.connection().send(std::string(1'000, ' '));
  CHECK(good.receive_answer().status == 200);
}

TEST_CASE("bodies that do not end hold a bounded number of bytes, for each user and in all") {
  server::http_options options;
  options.body_limit_bytes = 64u << 10;
  options.bodies = {1u << 20, 256u << 10, 512u << 10};
  filtered_server server{400, 200, options};
  std::vector<std::unique_ptr<http_client>> held;
  // Each of them after the previous one has got its place or response.
  const auto hold = [&](const std::string& token) {
    const auto before = server.server.stats().body_bytes;
    held.push_back(std::make_unique<http_client>(server.client()));
    held.back()->connection().send("POST " + pods +
                                   " HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + token +
                                   "\r\nContent-Length: 65000\r\n\r\n" + std::string(60'000, ' '));
    REQUIRE(eventually([&] {
      return held.back()->connection().has_input() ||
             server.server.stats().body_bytes == before + (64u << 10);
    }));
  };
  const auto refused = [&] {
    std::size_t count = 0;
    for (const auto& each : held)
      count += each->connection().has_input() ? 1 : 0;
    return count;
  };
  for (int i = 0; i < 6; ++i)
    hold("writer-a");
  REQUIRE(eventually([&] { return refused() == 2; }));
  CHECK(server.server.stats().body_bytes == 256u << 10);
  for (int i = 0; i < 6; ++i)
    hold("writer-b");
  REQUIRE(eventually([&] { return refused() == 4; }));
  // 127.0.0.1 has reached its share.
  hold("writer-c");
  REQUIRE(eventually([&] { return refused() == 5; }));
  const auto answer = held.back()->receive_answer();
  CHECK(answer.status == 429);
  CHECK(answer.header("retry-after") == "1");
  CHECK(answer.body.find("the requests from this address hold as many bytes as they may") !=
        std::string::npos);
  CHECK(server.post(pods, "writer-c").status == 200);
  hold("master-token");
  CHECK(eventually([&] { return server.server.stats().body_bytes == 576u << 10; }));
  held.clear();
  CHECK(eventually([&] { return server.server.stats().body_bytes == 0; }));
}
