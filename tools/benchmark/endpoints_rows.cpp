#include <fmt/format.h>
#include <poll.h>

#include <array>
#include <string>

#include "benchmark/node.hpp"
#include "benchmark/rows.hpp"

namespace troupe::bench {
namespace {

constexpr int services = 1'000, pods_of_each = 10;
constexpr const char* core = "/api/v1/namespaces/default/";
constexpr std::string_view mark = "\"type\":\"MODIFIED\"";
constexpr const char* slices = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";

// When a watch last brought a change, and how often it did. Of metadata alone, so that what is
// measured is not how fast ten thousand pods are read.
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
      std::size_t at = 0;
      for (auto found = text_.find(mark); found != text_.npos; found = text_.find(mark, at)) {
        at = found + mark.size();
        last_ = clock::now();
        ++count_;
      }
      text_.erase(0, std::max(at, text_.size() - std::min(text_.size(), mark.size())));
    } while (client_.connection().has_input());
  }

  int count() const noexcept { return count_; }
  clock::time_point last() const noexcept { return last_; }

 private:
  test::http_client client_;
  std::string text_;
  int count_ = 0;
  clock::time_point last_{};
};

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

// Pods of simulated nodes are Running and Ready in one write, the last change of each.
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
  // At its end nothing has come for a second.
  while (::poll(ready.data(), ready.size(), pods.count() < changes ? 30'000 : 1'000) > 0) {
    if (ready[0].revents != 0) pods.take();
    if (ready[1].revents != 0) all_slices.take();
  }
  if (pods.count() < changes) die("not all pods run");
  const std::chrono::duration<double, std::milli> behind = all_slices.last() - pods.last();
  out.add("10,000 pods behind 1,000 services: the last slice after the last pod is Ready",
          std::max(behind.count(), 0.0), "ms", at_most(200));
}

}  // namespace troupe::bench
