// Kubelets over HTTP with a node's certificate: objects that they may read and write, and attempts
// to get more access.
#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "api/values/base64.hpp"
#include "server/credentials/x509.hpp"
#include "server/fixtures/guarded_api.hpp"

using namespace troupe;
using namespace troupe::server::testing;
using Catch::Contains;

namespace {

const std::string n0 = "system:node:n0";
const std::string core = "/api/v1/namespaces/default/";
const std::string nodes = "/api/v1/nodes";
const std::string leases = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";
const std::string csi_nodes = "/apis/storage.k8s.io/v1/csinodes";
const std::string merge = "application/merge-patch+json";

// Nodes n0 and n1. The pod p0 of n0 uses the config map c0, the secrets s0 and pull, the claim d0
// and with it the volume v0 and its secret driver; it runs as robot. p1 of n1 uses s1.
struct two_kubelets : guarded_api {
  two_kubelets() {
    for (const auto* node : {"n0", "n1"})
      make(nodes, fmt::format(R"({{"metadata":{{"name":"{}"}}}})", node));
    for (const auto* account : {"robot", "other"})
      make(core + "serviceaccounts", fmt::format(R"({{"metadata":{{"name":"{}"}}}})", account));
    for (const auto* secret : {"s0", "s1", "pull", "driver", "controllers"})
      make(core + "secrets", fmt::format(R"({{"metadata":{{"name":"{}"}}}})", secret));
    for (const auto* map : {"c0", "c1"})
      make(core + "configmaps", fmt::format(R"({{"metadata":{{"name":"{}"}}}})", map));
    for (const auto* claim : {"d0", "d1"})
      make(core + "persistentvolumeclaims",
           fmt::format(R"({{"metadata":{{"name":"{}"}},"spec":{{"accessModes":["ReadWriteOnce"],)"
                       R"("resources":{{"requests":{{"storage":"1Gi"}}}}}}}})",
                       claim));
    for (const auto* number : {"0", "1"})
      make(
          "/api/v1/persistentvolumes",
          fmt::format(
              R"({{"metadata":{{"name":"v{0}"}},"spec":{{"capacity":{{"storage":"1Gi"}},)"
              R"("accessModes":["ReadWriteOnce"],"claimRef":{{"namespace":"default","name":"d{0}"}},)"
              R"("csi":{{"driver":"d","volumeHandle":"h","nodePublishSecretRef":{{"namespace":)"
              R"("default","name":"driver"}},"controllerPublishSecretRef":{{"namespace":)"
              R"("default","name":"controllers"}}}}}}}})",
              number));
    make(core + "pods",
         pod_json("p0", "{}",
                  R"("nodeName":"n0","serviceAccountName":"robot","imagePullSecrets":[)"
                  R"({"name":"pull"}],"volumes":[{"name":"a","secret":{"secretName":"s0"}},)"
                  R"({"name":"b","configMap":{"name":"c0"}},{"name":"c",)"
                  R"("persistentVolumeClaim":{"claimName":"d0"}},{"name":"t","projected":{)"
                  R"("sources":[{"serviceAccountToken":{"path":"t","audience":"vault",)"
                  R"("expirationSeconds":900}}]}}],)"));
    make(core + "pods", pod_json("p1", "{}",
                                 R"("nodeName":"n1","volumes":[{"name":"a",)"
                                 R"("secret":{"secretName":"s1"}}],)"));
  }

  rest_answer patch(const std::string& path, const std::string& body) {
    return ask(n0, "PATCH", path, body, {{"Content-Type", merge}});
  }
};

// Refused with a message in upstream's words.
void refused(const rest_answer& answer, const std::string& reason) {
  INFO(answer.text());
  CHECK(answer.status == 403);
  CHECK_THAT(answer.at("message"), Contains(reason));
}

const std::string unrelated = "no relationship found between node 'n0' and this object";

}  // namespace

TEST_CASE("a kubelet reads only the objects that its pods refer to") {
  two_kubelets api;
  const auto reads = [&](const std::string& path) { return api.ask(n0, "GET", path); };
  for (const auto* path :
       {"pods/p0", "secrets/s0", "secrets/pull", "secrets/driver", "configmaps/c0",
        "persistentvolumeclaims/d0", "serviceaccounts/robot",
        "secrets?fieldSelector=metadata.name%3Ds0", "pods?fieldSelector=spec.nodeName%3Dn0"}) {
    INFO(path);
    CHECK(reads(core + path).status == 200);
  }
  for (const auto* path :
       {"/api/v1/persistentvolumes/v0", "/api/v1/nodes/n0", "/api/v1/services",
        "/api/v1/nodes?fieldSelector=metadata.name%3Dn0", "/apis/node.k8s.io/v1/runtimeclasses",
        "/api/v1/pods?fieldSelector=spec.nodeName%3Dn0", "/apis/storage.k8s.io/v1/csidrivers"}) {
    INFO(path);
    CHECK(reads(path).status == 200);
  }
  for (const auto* path : {"secrets/s1", "secrets/controllers", "secrets/none", "configmaps/c1",
                           "persistentvolumeclaims/d1", "serviceaccounts/other", "pods/p1",
                           "pods?fieldSelector=metadata.name%3Dp1"}) {
    INFO(path);
    refused(reads(core + path), unrelated);
  }
  refused(reads("/api/v1/persistentvolumes/v1"), unrelated);
  refused(reads(core + "secrets"), "No Object name found");
  refused(reads("/api/v1/secrets?fieldSelector=metadata.name%3Ds0"),
          "can only read namespaced object of this type");
  refused(reads(core + "persistentvolumeclaims"), "can only get individual resources of this type");
  refused(reads(nodes), "node 'n0' cannot read all nodes, only its own Node object");
  refused(reads(nodes + "/n1"), "node 'n0' cannot read 'n1', only its own Node object");
  const std::string all_pods = "can only list/watch pods with spec.nodeName field selector";
  refused(reads("/api/v1/pods"), all_pods);
  refused(reads("/api/v1/pods?fieldSelector=spec.nodeName%3Dn1"), all_pods);
  refused(reads("/api/v1/pods?fieldSelector=spec.nodeName!%3Dn0"), all_pods);
  // One condition whose value contains a comma.
  refused(reads("/api/v1/pods?fieldSelector=status.phase!%3Dx%5C,spec.nodeName%3Dn0"), all_pods);
  refused(reads("/api/v1/pods?watch=1&fieldSelector=spec.nodeName%3Dn1"), all_pods);
  CHECK(reads("/apis/rbac.authorization.k8s.io/v1/clusterroles").status == 403);
  CHECK(reads("/api/v1/configmaps").status == 403);
}

TEST_CASE("a kubelet's read access follows its pods at once") {
  two_kubelets api;
  const auto late = core + "secrets/late";
  api.make(core + "secrets", R"({"metadata":{"name":"late"}})");
  api.make(core + "pods", pod_json("p2", "{}",
                                   R"("volumes":[{"name":"a","secret":{)"
                                   R"("secretName":"late"}}],)"));
  CHECK(api.ask(n0, "GET", late).status == 403);
  api.make(core + "pods/p2/binding", R"({"metadata":{"name":"p2"},"target":{"name":"n0"}})");
  CHECK(api.ask(n0, "GET", late).status == 200);
  CHECK(api.ask("system:node:n1", "GET", late).status == 403);
  CHECK(api.ask("root", "DELETE", core + "pods/p2?gracePeriodSeconds=0").status == 200);
  CHECK(api.ask(n0, "GET", late).status == 403);
  // When the volume belongs to another claim, access to its secret is lost.
  CHECK(api.ask(n0, "GET", core + "secrets/driver").status == 200);
  const std::string volume = "/api/v1/persistentvolumes/v0";
  CHECK(api.ask("root", "DELETE", volume).status == 200);
  CHECK(api.ask(n0, "GET", core + "secrets/driver").status == 200);
  CHECK(api.ask("root", "PATCH", volume, R"({"metadata":{"finalizers":null}})",
                {{"Content-Type", merge}})
            .status == 200);
  CHECK(api.ask(n0, "GET", core + "secrets/driver").status == 403);
}

TEST_CASE("a kubelet does not say which addresses its pods have") {
  two_kubelets api;
  const std::string wide = R"({"spec":{"podCIDRs":["10.42.0.0/16"]}})";
  const std::string not_allowed = "is not allowed to modify podCIDRs";
  refused(api.patch(nodes + "/n0", wide), not_allowed);
  refused(api.patch(nodes + "/n0", R"({"spec":{"podCIDR":"10.42.0.0/16"}})"), not_allowed);
  refused(api.ask("system:node:n3", "POST", nodes,
                  R"({"metadata":{"name":"n3"},"spec":{"podCIDR":"10.42.0.0/16"}})"),
          not_allowed);
  CHECK(api.ask("root", "PATCH", nodes + "/n0",
                R"({"spec":{"podCIDR":"10.42.1.0/24","podCIDRs":["10.42.1.0/24"]}})",
                {{"Content-Type", merge}})
            .status == 200);
  CHECK(api.patch(nodes + "/n0", wide).status == 422);
  CHECK(api.patch(nodes + "/n0", R"({"metadata":{"labels":{"own":"x"}}})").status == 200);
}

TEST_CASE("a kubelet writes itself, without its taints, key and restricted labels") {
  two_kubelets api;
  const auto self = nodes + "/n0";
  CHECK(api.patch(self + "/status", R"({"status":{"phase":"Running"}})").status == 200);
  CHECK(api.patch(self, R"({"metadata":{"labels":{"kubernetes.io/hostname":"h","own":"x",)"
                        R"("a.node.kubernetes.io/b":"c"}}})")
            .status == 200);
  refused(api.patch(self, R"({"metadata":{"labels":{"node-restriction.kubernetes.io/x":"y",)"
                          R"("b.k8s.io/x":"y","kubernetes.io/os":"linux"}}})"),
          "is not allowed to modify labels: b.k8s.io/x, node-restriction.kubernetes.io/x");
  refused(api.patch(self, R"({"metadata":{"labels":{"node-role.kubernetes.io/master":""}}})"),
          "is not allowed to modify labels");
  refused(api.patch(self, R"({"spec":{"taints":[{"key":"a","effect":"NoSchedule"}]}})"),
          "node \"n0\" is not allowed to modify taints");
  refused(api.patch(self, R"({"metadata":{"annotations":{"troupe.dev/node-key":"x"}}})"),
          "is not allowed to modify annotation troupe.dev/node-key");
  refused(api.patch(self, R"({"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"Node",)"
                          R"("name":"n1","uid":"1"}]}})"),
          "is not allowed to modify ownerReferences");
  const std::string other = "node \"n0\" is not allowed to modify node \"n1\"";
  refused(api.patch(nodes + "/n1", R"({"metadata":{"labels":{"own":"x"}}})"), other);
  refused(api.patch(nodes + "/n1/status", R"({"status":{"phase":"Running"}})"), other);
  refused(api.ask(n0, "POST", nodes, R"({"metadata":{"name":"n7"}})"), "node \"n7\"");
  CHECK(api.ask(n0, "DELETE", self).status == 403);
  const std::string third = "system:node:n3";
  refused(api.ask(third, "POST", nodes,
                  R"({"metadata":{"name":"n3","labels":{"x.kubernetes.io/y":"z"}}})"),
          "node \"n3\" is not allowed to set the following labels: x.kubernetes.io/y");
  CHECK(api.ask(third, "POST", nodes, R"({"metadata":{"name":"n3"}})").status == 201);
}

TEST_CASE("a kubelet writes its lease, its CSINode, events, and of claims their size") {
  two_kubelets api;
  const auto named = [](const std::string& name) {
    return fmt::format(R"({{"metadata":{{"name":"{}"}},"spec":{{}}}})", name);
  };
  CHECK(api.ask(n0, "POST", leases, named("n0")).status == 201);
  CHECK(api.ask(n0, "GET", leases + "/n0").status == 200);
  CHECK(api.patch(leases + "/n0", R"({"spec":{"holderIdentity":"n0"}})").status == 200);
  const std::string foreign = "can only access node lease with the same name";
  refused(api.ask(n0, "POST", leases, named("n1")), foreign);
  refused(api.ask(n0, "PUT", leases + "/n1", named("n1")), foreign);
  refused(api.ask(n0, "GET", leases), "can only get, create, update, patch, or delete");
  refused(api.ask(n0, "GET", "/apis/coordination.k8s.io/v1/namespaces/default/leases/n0"),
          "can only access leases in the \"kube-node-lease\" system namespace");
  const auto csi = [](const std::string& name) {
    return fmt::format(R"({{"metadata":{{"name":"{}"}},"spec":{{"drivers":[]}}}})", name);
  };
  CHECK(api.ask(n0, "POST", csi_nodes, csi("n0")).status == 201);
  refused(api.ask(n0, "POST", csi_nodes, csi("n1")), "can only access CSINode with the same name");
  CHECK(api.ask(n0, "POST", core + "events",
                R"({"metadata":{"name":"e"},"involvedObject":{"kind":"Pod","namespace":"default",)"
                R"("name":"p0"},"reason":"r"})")
            .status == 201);
  const auto claim = core + "persistentvolumeclaims/d0";
  CHECK(api.patch(claim + "/status", R"({"status":{"capacity":{"storage":"2Gi"}}})").status == 200);
  refused(api.patch(claim + "/status", R"({"status":{"phase":"Bound"}})"),
          "is not allowed to update fields other than status.capacity and status.conditions");
  CHECK(api.patch(claim, R"({"metadata":{"labels":{"a":"b"}}})").status == 403);
  refused(api.patch(core + "persistentvolumeclaims/d1/status",
                    R"({"status":{"capacity":{"storage":"2Gi"}}})"),
          unrelated);
}

TEST_CASE("a kubelet writes the status of its pods, evicts and deletes them, and mirrors its own") {
  two_kubelets api;
  const std::string status = R"({"status":{"message":"m"}})";
  CHECK(api.patch(core + "pods/p0/status", status).status == 200);
  refused(api.patch(core + "pods/p1/status", status), "can only update pod status for pods with");
  CHECK(api.patch(core + "pods/p0", R"({"metadata":{"labels":{"a":"b"}}})").status == 403);
  const auto eviction = [](const std::string& pod) {
    return fmt::format(R"({{"metadata":{{"name":"{}"}}}})", pod);
  };
  refused(api.ask(n0, "POST", core + "pods/p1/eviction", eviction("p1")),
          "node n0 can only evict pods with spec.nodeName set to itself");
  refused(api.ask(n0, "DELETE", core + "pods/p1"),
          "node \"n0\" can only delete pods with spec.nodeName set to itself");
  CHECK(api.ask(n0, "DELETE", core + "pods").status == 403);
  CHECK(api.ask(n0, "POST", core + "pods/p0/binding",
                R"({"metadata":{"name":"p0"},"target":{"name":"n1"}})")
            .status == 403);
  CHECK(api.ask(n0, "POST", core + "pods/p0/eviction", eviction("p0")).status == 201);

  const auto uid = api.ask("root", "GET", nodes + "/n0").at("metadata.uid");
  const auto pod = [&](const std::string& owner, const std::string& spec,
                       const std::string& annotation = "kubernetes.io/config.mirror") {
    return fmt::format(R"({{"metadata":{{"name":"m","annotations":{{"{}":"x"}},)"
                       R"("ownerReferences":[{}]}},"spec":{{{}"containers":[{{"name":"c",)"
                       R"("image":"i"}}]}}}})",
                       annotation, owner, spec);
  };
  const auto owner = [](const std::string& id, const std::string& more = R"(,"controller":true)") {
    return fmt::format(R"({{"apiVersion":"v1","kind":"Node","name":"n0","uid":"{}"{}}})", id, more);
  };
  const auto on = [](const std::string& node) { return R"("nodeName":")" + node + R"(",)"; };
  const auto create = [&](const std::string& body) {
    return api.ask(n0, "POST", core + "pods", body);
  };
  refused(create(pod(owner(uid), on("n0"), "other")), "can only create mirror pods");
  refused(create(pod(owner(uid), on("n1"))), "can only create pods with spec.nodeName set to");
  refused(create(pod("", on("n0"))), "can only create pods with an owner reference set to itself");
  refused(create(pod(owner(uid, ""), on("n0"))), "with a controller owner reference");
  refused(create(pod(owner("1"), on("n0"))), "node n0 UID mismatch: expected 1 got " + uid);
  refused(create(pod(owner(uid), on("n0") + R"("serviceAccountName":"robot",)")),
          "can not create pods that reference a service account");
  const auto volume = [&](const std::string& source) {
    return pod(owner(uid), on("n0") + R"("volumes":[{"name":"v",)" + source + "}],");
  };
  refused(create(volume(R"("secret":{"secretName":"s1"})")), "reference secrets");
  refused(create(volume(R"("configMap":{"name":"c1"})")), "reference configmaps");
  refused(create(volume(R"("persistentVolumeClaim":{"claimName":"d1"})")),
          "reference persistentvolumeclaims");
  const auto made = create(pod(owner(uid), on("n0")));
  INFO(made.text());
  CHECK(made.status == 201);
  CHECK(made.at("spec.serviceAccountName").empty());
  CHECK(api.ask(n0, "DELETE", core + "pods/m?gracePeriodSeconds=0").status == 200);
}

TEST_CASE("a kubelet asks for certificates of its own name alone") {
  two_kubelets api;
  const auto key = server::x509::make_key().value();
  int asked = 0;
  const auto ask = [&](const std::string& signer, const std::string& pem) {
    std::string encoded;
    api::append_base64(encoded, pem);
    return api.ask(n0, "POST", "/apis/certificates.k8s.io/v1/certificatesigningrequests",
                   fmt::format(R"({{"metadata":{{"name":"r{}"}},"spec":{{"request":"{}",)"
                               R"("signerName":"kubernetes.io/{}","usages":["client auth"]}}}})",
                               asked++, encoded, signer));
  };
  const auto of = [&](const std::string& name) {
    return server::x509::make_request(key, name).value();
  };
  const std::string words = "can only create a node CSR with CN=system:node:n0";
  for (const auto* signer : {"kube-apiserver-client-kubelet", "kubelet-serving"}) {
    CHECK(ask(signer, of(n0)).status == 201);
    refused(ask(signer, of("system:node:n1")), words);
    refused(ask(signer, of("admin")), words);
    refused(ask(signer,
                "-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n"
                "-----END CERTIFICATE REQUEST-----\n"),
            "unable to parse csr");
  }
  CHECK(ask("kube-apiserver-client", of("admin")).status == 201);
}

TEST_CASE("a node's certificate gives no roles, bindings, certificates or other names") {
  two_kubelets api;
  CHECK(api.ask(n0, "POST", api.cluster_bindings, api.bind("b", "ClusterRole", "cluster-admin", n0))
            .status == 403);
  CHECK(api.ask(n0, "GET", core + "secrets/s1", {}, {{"Impersonate-User", "root"}}).status == 403);
  CHECK(api.ask(n0, "GET", core + "secrets/s1", {},
                {{"Impersonate-User", "system:node:n1"}, {"Impersonate-Group", "system:nodes"}})
            .status == 403);
  CHECK(api.ask(n0, "PATCH", core + "secrets/s0", R"({"data":{}})", {{"Content-Type", merge}})
            .status == 403);
  CHECK(api.ask(n0, "POST", core + "pods/p0/exec?command=id", "").status == 403);
  CHECK(api.ask(n0, "GET", nodes + "/n1/proxy/pods").status == 403);
  // The name alone, without the group, is somebody; so is the group without a name.
  CHECK(api.ask("system:node", "GET", core + "secrets/s0").status == 403);
  CHECK(api.ask("system:node:", "GET", core + "secrets/s0").status == 403);
  // Who may become a node is one for as long.
  CHECK(api.ask("root", "GET", core + "secrets/s1", {},
                {{"Impersonate-User", n0}, {"Impersonate-Group", "system:nodes"}})
            .status == 403);
}
