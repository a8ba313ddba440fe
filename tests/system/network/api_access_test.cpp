// Pods that call the API as client libraries do: at the address of their variables, with the token
// and the authority of their service account.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <string>
#include <vector>

#include "system/network/container_cluster.hpp"

using namespace troupe::test;

namespace {

constexpr std::chrono::seconds access_limit{240};

const char* const team = R"yaml(---
apiVersion: v1
kind: Namespace
metadata: {name: team}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: viewers, namespace: team}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}
subjects: [{kind: ServiceAccount, name: default, namespace: team}]
)yaml";

// curl and its libraries are those of this machine.
std::string api_client(const std::string& name, const std::string& node, bool host_network) {
  return fmt::format(R"yaml(---
apiVersion: v1
kind: Pod
metadata: {{name: {}, namespace: team}}
spec:
  nodeName: {}
  hostNetwork: {}
  restartPolicy: Never
  volumes:
  - {{name: usr, hostPath: {{path: /usr}}}}
  - {{name: lib, hostPath: {{path: /lib}}}}
  - {{name: lib64, hostPath: {{path: /lib64}}}}
  containers:
  - name: c
    image: localhost/tools:1
    volumeMounts:
    - {{name: usr, mountPath: /usr, readOnly: true}}
    - {{name: lib, mountPath: /lib, readOnly: true}}
    - {{name: lib64, mountPath: /lib64, readOnly: true}}
    command:
    - sh
    - -c
    - |
      dir=/var/run/secrets/kubernetes.io/serviceaccount
      api=https://$KUBERNETES_SERVICE_HOST:$KUBERNETES_SERVICE_PORT
      ask() {{
        /usr/bin/curl -sS -m 10 -A client --cacert $dir/ca.crt \
          -H "Authorization: Bearer $(cat $dir/token)" \
          -o /tmp/body -w '%{{http_code}}\n' $api/api/v1/namespaces/$1/configmaps
      }}
      for i in $(seq 100); do
        [ "$(ask $(cat $dir/namespace) 2>/dev/null)" = 200 ] && break
        sleep 1
      done
      echo $api
      grep -o '"name":"kube-root-ca.crt","namespace":"[a-z]*"' /tmp/body
      ask default
)yaml",
                     name, node, host_network);
}

// Each sees its namespace, and no other.
void check_access(joined_cluster& c, const std::vector<std::string>& nodes) {
  // The account of a new namespace comes a moment later.
  std::string all = team;
  std::vector<std::string> names;
  for (const auto& node : nodes)
    for (const bool host_network : {false, true}) {
      names.push_back((host_network ? "host-" : "own-") + node);
      all += api_client(names.back(), node, host_network);
    }
  process_result made{};
  const bool created = soon(access_limit, [&] { return (made = c.apply(all)).code == 0; });
  INFO(made.output);
  REQUIRE(created);
  const std::string answers =
      "https://10.96.0.1:443\n\"name\":\"kube-root-ca.crt\",\"namespace\":\"team\"\n403\n";
  for (const auto& name : names) {
    std::string log;
    CHECK(soon(access_limit,
               [&] { return (log = c.kubectl("logs -n team " + name).output) == answers; }));
    INFO(name << ": " << log);
    CHECK(log == answers);
  }
  CHECK(c.kubectl("delete namespace team").code == 0);
}

}  // namespace

TEST_CASE("pods of each machine, with its network too, call the API at their variables",
          "[network][containers][api_access]") {
  if (!container_cluster::possible()) return;
  container_cluster cluster{1};
  check_access(*cluster, {"m1", "m2"});
  cluster.delete_pods();
}

TEST_CASE("pods of a machine whose API listens on loopback call it, and other machines cannot",
          "[network][containers][api_access]") {
  if (!container_cluster::possible()) return;
  container_cluster cluster{0, {}, {"--listen", "127.0.0.1:6443"}};
  auto& c = *cluster;
  auto& m1 = c.control();
  const std::string call = "curl -sSk -m 10 -o /dev/null -w '%{http_code}' https://10.96.0.1";
  CHECK(soon(access_limit, [&] { return m1.run(call + "/version").output == "200"; }));
  check_access(c, {"m1"});
  auto& other = c.add();
  REQUIRE(other.run("ip route add 10.96.0.0/12 via " + m1.address()).code == 0);
  for (const auto* port : {":443", ":6443"}) {
    INFO(port);
    constexpr int timed_out = 28;
    CHECK(other.run(call + port + "/version").code == timed_out);
  }
  cluster.delete_pods();
  // With a listener that others reach, the Service leads there.
  CHECK(m1.end() == 0);
  const auto addresses = [&] { return m1.run("ip -4 addr show lo").output; };
  CHECK_THAT(addresses(), Catch::Contains("10.96.0.1/32"));
  m1.start({"node", "--listen", m1.address() + ":6443", "--node-name", "m1", "--runtime", "cri",
            "--cri-endpoint", cluster.runtime(m1).endpoint()});
  CHECK_THAT(addresses(), !Catch::Contains("10.96.0.1/32"));
  CHECK(soon(access_limit, [&] { return m1.run(call + "/version").output == "200"; }));
}
