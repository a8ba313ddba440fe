// Which volume is bound to which claim, by tables.
#include <catch2/catch.hpp>

#include "actors/core/labels.hpp"
#include "actors/volumes/defaults.hpp"
#include "actors/volumes/provisioning.hpp"
#include "api/schema/core_node.pb.h"
#include "builders.hpp"

namespace troupe::actors::volumes {

namespace {

std::string match(const std::vector<api::object_ptr>& volumes, const api::object_ptr& claim,
                  bool delayed = false) {
  const auto found = best_match(volumes, claim->as<PersistentVolumeClaim>(), delayed);
  return found ? found->meta().name() : "";
}

const std::string reserved = ", claimRef: {namespace: default, name: c}";

}  // namespace

TEST_CASE("a claim gets the smallest volume that fits it", "[volumes]") {
  const std::vector volumes{make_free_volume("large", "10Gi"), make_free_volume("b", "2Gi"),
                            make_free_volume("a", "2Gi"), make_free_volume("small", "500Mi")};
  CHECK(match(volumes, make_claim("c", "1Gi")) == "a");
  CHECK(match(volumes, make_claim("c", "500Mi")) == "small");
  CHECK(match(volumes, make_claim("c", "3Gi")) == "large");
  CHECK(match(volumes, make_claim("c", "11Gi")).empty());
}

TEST_CASE("class, access modes, volume mode and selector decide whether a volume fits",
          "[volumes]") {
  const auto fits = [](const std::string& volume, const std::string& claim,
                       const std::string& meta = {}) {
    return !match({make_free_volume("v", "1Gi", volume, meta)}, make_claim("c", "1Gi", claim))
                .empty();
  };
  CHECK(fits("", ""));
  CHECK(fits(", storageClassName: fast", ", storageClassName: fast"));
  CHECK_FALSE(fits(", storageClassName: fast", ""));
  CHECK_FALSE(fits("", ", storageClassName: fast"));
  CHECK_FALSE(fits("", ", volumeMode: Block"));
  CHECK(fits("", ", selector: {matchLabels: {tier: gold}}", ", labels: {tier: gold}"));
  CHECK_FALSE(fits("", ", selector: {matchLabels: {tier: gold}}"));
  CHECK_FALSE(fits("", "", ", deletionTimestamp: \"2026-01-01T00:00:00Z\""));
  const auto many = parse<PersistentVolumeClaim>(
      "metadata: {name: c, namespace: default, uid: u}\nspec: {accessModes: [ReadWriteMany], "
      "resources: {requests: {storage: 1Gi}}}\n");
  CHECK(match({make_free_volume("v", "1Gi")}, many).empty());
}

TEST_CASE("a volume that is reserved for a claim comes before all others", "[volumes]") {
  const auto own = make_free_volume("own", "5Gi", reserved + ", storageClassName: other");
  const auto small = make_free_volume("small", "1Gi");
  const auto others =
      make_free_volume("others", "1Gi", ", claimRef: {namespace: default, name: d}");
  CHECK(match({small, own}, make_claim("c", "1Gi")) == "own");
  CHECK(match({others}, make_claim("c", "1Gi")).empty());
  // Another claim with the same name.
  CHECK(
      match({make_free_volume("v", "1Gi", ", claimRef: {namespace: default, name: c, uid: else}")},
            make_claim("c", "1Gi"))
          .empty());
  // No node is selected yet: only a reservation counts.
  CHECK(match({small}, make_claim("c", "1Gi"), true).empty());
  CHECK(match({small, own}, make_claim("c", "1Gi"), true) == "own");
  CHECK(match({make_free_volume("v", "1Gi", "", "", "Released")}, make_claim("c", "1Gi")).empty());
}

TEST_CASE("a volume that a claim names must fit it", "[volumes]") {
  const auto problem = [](const std::string& size, const std::string& claim) {
    return mismatch(make_free_volume("v", size)->as<PersistentVolume>(),
                    make_claim("c", "1Gi", claim)->as<PersistentVolumeClaim>())
        .value_or("");
  };
  CHECK(problem("1Gi", "").empty());
  CHECK(problem("1Mi", "") == "requested PV is too small");
  CHECK(problem("1Gi", ", storageClassName: x") == "storageClassName does not match");
  CHECK(problem("1Gi", ", volumeMode: Block") == "incompatible volumeMode");
}

TEST_CASE("both sides of a binding name each other", "[volumes]") {
  const auto claim = make_claim("c", "1Gi");
  const auto volume = bound_volume(make_free_volume("v", "2Gi")->as<PersistentVolume>(),
                                   claim->as<PersistentVolumeClaim>());
  const auto bound = bound_claim(claim->as<PersistentVolumeClaim>(), *volume);
  CHECK(is_for(*volume, *bound));
  CHECK(is_bound(*bound));
  CHECK(volume->spec().claim_ref().uid() == "c-uid");
  CHECK(annotation_of(volume->metadata(), defaults::bound_by_controller) == "yes");
  CHECK(bound->spec().volume_name() == "v");
  CHECK(bound->status().phase() == "Bound");
  CHECK(bound->status().capacity().at("storage").string() == "2Gi");
}

TEST_CASE("the built-in provisioner makes a volume of one node, named after the claim",
          "[volumes]") {
  const auto claim = make_claim("c", "1Gi", ", storageClassName: local-path");
  const auto storage_class = make_local_path_class();
  Node node;
  node.mutable_metadata()->set_name("n1");
  (*node.mutable_metadata()->mutable_labels())["kubernetes.io/hostname"] = "host-1";
  const auto made = make_volume(claim->as<PersistentVolumeClaim>(), *storage_class, node);
  CHECK(made->metadata().name() == "pvc-c-uid");
  CHECK(is_local_path(*made));
  CHECK(node_of(*made) == "n1");
  CHECK(has_directory(*made));
  CHECK(made->spec().persistent_volume_reclaim_policy() == "Delete");
  CHECK(made->spec().node_affinity().required().node_selector_terms(0).match_expressions(0).values(
            0) == "host-1");
  node.mutable_status()->mutable_node_info()->set_container_runtime_version("simulated://1");
  CHECK_FALSE(
      has_directory(*make_volume(claim->as<PersistentVolumeClaim>(), *storage_class, node)));
}

TEST_CASE("the built-in provisioner refuses claims that a directory cannot serve", "[volumes]") {
  const auto refusal = [](const std::string& claim, const std::string& of_class = {}) {
    return check_provisioning(
               make_class("local", defaults::local_path, of_class)->as<StorageClass>(),
               make_claim("c", "1Gi", claim)->as<PersistentVolumeClaim>())
        .value_or("");
  };
  CHECK(refusal("").empty());
  CHECK(refusal(", volumeMode: Block").find("block volume provisioning") != std::string::npos);
  CHECK(refusal(", selector: {matchLabels: {a: b}}") == "claim.Spec.Selector is not supported");
  CHECK(refusal("", "parameters: {path: /etc}").find("\"path\" is not known") != std::string::npos);
  CHECK(refusal("", "mountOptions: [ro]").find("Mount options") != std::string::npos);
}

}  // namespace troupe::actors::volumes
