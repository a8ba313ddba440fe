// Claims that are bound at once, each to a volume that is provisioned for it.
#include <fmt/format.h>

#include <thread>

#include "benchmark/node.hpp"
#include "benchmark/rows.hpp"

namespace troupe::bench {
namespace {

constexpr const char* claims = "/api/v1/namespaces/default/persistentvolumeclaims";
constexpr int count = 1'000;

load_request claim_request(std::uint64_t number) {
  return {"POST", claims,
          fmt::format(
              R"({{"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{{"name":"c{}"}},)"
              R"("spec":{{"storageClassName":"at-once","accessModes":["ReadWriteOnce"],)"
              R"("resources":{{"requests":{{"storage":"1Gi"}}}}}}}})",
              number),
          "application/json"};
}

int bound(test::http_client& client) {
  constexpr std::string_view phase = R"("phase":"Bound")";
  const auto body = client.get(claims).body;
  int found = 0;
  for (auto at = body.find(phase); at != body.npos; at = body.find(phase, at + phase.size()))
    ++found;
  return found;
}

}  // namespace

void measure_claims(results& out, const bench_options& options) {
  const scratch place;
  const node n{options.program, place.path(), 100};
  n.wait_for_nodes();
  auto client = n.client();
  const auto made = client.request(
      "POST", "/apis/storage.k8s.io/v1/storageclasses",
      R"({"apiVersion":"storage.k8s.io/v1","kind":"StorageClass","metadata":{"name":"at-once"},)"
      R"("provisioner":"local-path.troupe.dev","volumeBindingMode":"Immediate"})",
      {{"content-type", "application/json"}});
  if (made.status != 201) die(made.body);
  auto load = n.load();
  load.connections = 8;
  load.requests = count;
  load.next = claim_request;
  const auto start = clock::now();
  must_run(load);
  while (bound(client) < count) {
    if (seconds_since(start) > 60) die("not all claims are bound");
    std::this_thread::sleep_for(std::chrono::milliseconds{4});
  }
  out.add("1,000 claims of Immediate binding: all provisioned and bound", seconds_since(start), "s",
          at_most(1));
}

}  // namespace troupe::bench
