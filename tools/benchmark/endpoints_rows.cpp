#include <fmt/format.h>
#include <poll.h>

#include <array>
#include <chrono>
#include <string>
#include <string_view>

#include "api/values/timestamp.hpp"
#include "benchmark/node.hpp"
#include "benchmark/rows.hpp"

namespace troupe::bench {
namespace {

constexpr int services = 1'000, pods_of_each = 10;
constexpr const char* core = "/api/v1/namespaces/default/";
constexpr std::string_view mark = "\"type\":\"MODIFIED\"";
using time_point = std::chrono::system_clock::time_point;
constexpr const char* slices = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";

// The text between `before` and the next quote; empty if there is none.
std::string quoted_after(std::string_view text, std::string_view before) {
  const auto at = text.find(before);
  if (at == text.npos) return {};
  text.remove_prefix(at + before.size());
  return std::string{text.substr(0, text.find('"'))};
}

// The last object of a watch, and the number of its changes. Requests metadata only, so that ten
// thousand pods are read quickly.
class change_watch {
 public:
  change_watch(const node& n, const std::string& path) : client_{n.client()} {
    client_.send_request(
        "GET", path + "?watch=true", {},
        {{"accept", "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"}});
    if (client_.receive_head().status != 200) die("no watch of " + path);
  }

  int descriptor() { return client_.connection().descriptor(); }

  void take() {
    do {
      text_ += client_.connection().receive();
      if (client_.connection().ended()) die("a watch has ended");
      for (auto end = text_.find('\n'); end != text_.npos; end = text_.find('\n')) {
        const auto event = std::string_view{text_}.substr(0, end);
        if (event.find(mark) != event.npos) {
          last_ = quoted_after(event, "\"name\":\"");
          ++count_;
        }
        text_.erase(0, end + 1);
      }
    } while (client_.connection().has_input());
  }

  int count() const noexcept { return count_; }
  const std::string& last() const noexcept { return last_; }  // the object's name

 private:
  test::http_client client_;
  std::string text_;
  int count_ = 0;
  std::string last_;
};

// The time of the store's last change of an object, from the console's history.
time_point changed_at(const node& n, const std::string& object) {
  const auto answer = n.client().request("GET", "/console/api/history?top=1&object=" + object);
  if (answer.status != 200) die(answer.body);
  const auto time = quoted_after(answer.body, "\"time\":\"");
  const auto read = api::parse_time(time);
  if (!read) die("no time of the last change: " + answer.body);
  return time_point{std::chrono::seconds{read->seconds} + std::chrono::nanoseconds{read->nanos}};
}

void create(test::http_client& client, const std::string& plural, const std::string& body) {
  const auto made =
      client.request("POST", core + plural, body, {{"content-type", "application/json"}});
  if (made.status != 201) die(made.body);
}

void create_service(test::http_client& client, int number) {
  create(client, "services",
         fmt::format(R"({{"apiVersion":"v1","kind":"Service","metadata":{{"name":"s{}"}},"spec":{{)"
                     R"("selector":{{"app":"s{}"}},"ports":[{{"port":80}}]}}}})",
                     number, number));
}

void create_pods(test::http_client& client, int number) {
  create(
      client, "replicationcontrollers",
      fmt::format(
          R"({{"apiVersion":"v1","kind":"ReplicationController","metadata":{{"name":"s{}"}},)"
          R"("spec":{{"replicas":{},"selector":{{"app":"s{}"}},"template":{{"metadata":{{"labels":)"
          R"({{"app":"s{}"}}}},"spec":{{"containers":[{{"name":"c","image":"x"}}]}}}}}}}})",
          number, pods_of_each, number, number));
}

}  // namespace

// Simulated pods become Running and Ready in one write, the last change of each pod.
void measure_endpoints(results& out, const bench_options& options) {
  constexpr int changes = 2 * services * pods_of_each;  // bound, running
  const scratch place;
  const node n{options.program, place.path(), 1'000};
  n.wait_for_nodes();
  auto client = n.client();
  for (int i = 0; i < services; ++i)
    create_service(client, i);
  change_watch pods{n, std::string{core} + "pods"}, all_slices{n, slices};
  for (int i = 0; i < services; ++i)
    create_pods(client, i);
  std::array<pollfd, 2> ready{pollfd{pods.descriptor(), POLLIN, 0},
                              pollfd{all_slices.descriptor(), POLLIN, 0}};
  // The loop ends when no event has come for a second.
  while (::poll(ready.data(), ready.size(), pods.count() < changes ? 30'000 : 1'000) > 0) {
    if (ready[0].revents != 0) pods.take();
    if (ready[1].revents != 0) all_slices.take();
  }
  if (pods.count() < changes) die("not all pods run");
  const std::chrono::duration<double, std::milli> behind =
      changed_at(n, "endpointslices/" + all_slices.last()) - changed_at(n, "pods/" + pods.last());
  out.add("10,000 pods behind 1,000 services: the last slice after the last pod is Ready",
          behind.count(), "ms", at_most(200));
}

}  // namespace troupe::bench
