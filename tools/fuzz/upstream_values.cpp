// Values stored by kube-apiserver, or by any client that writes to its etcd.
#include "api/schema/apiextensions_v1.pb.h"
#include "api/schema/autoscaling_v2.pb.h"
#include "api/schema/core_pod.pb.h"
#include "api/schema/networking_v1.pb.h"
#include "api/scheme.hpp"
#include "api/storage/stored_versions.hpp"
#include "api/storage/upstream_form.hpp"
#include "tools/fuzz/entries.hpp"

namespace troupe::fuzz {
namespace {

// A literal with its zero bytes.
template <std::size_t N>
std::string bytes_of(const char (&literal)[N]) {
  return {literal, N - 1};
}

std::vector<std::string> values() {
  return {
      bytes_of("k8s\0\n\t\n\2v1\22\3Pod\22\11\n\7\n\1a\22\0\32\0\32\0\"\0"),
      bytes_of("k8s\0\n$\n\31networking.k8s.io/v1beta1\22\7Ingress\22\7\22\5\n\3\n\1s\32\0\"\0"),
      R"({"kind":"CustomResourceDefinition","apiVersion":"apiextensions.k8s.io/v1beta1",)"
      R"("metadata":{"name":"a.b.c"},"spec":{"group":"b.c","version":"v1",)"
      R"("additionalPrinterColumns":[{"JSONPath":".a"}],"conversion":{"strategy":"None"}}})",
      R"({"kind":"Thing","apiVersion":"b.c/v1","metadata":{"name":"a"},"a":1.50})",
      "k8s:enc:aescbc:v1:key1:bytes"};
}

void read_value(std::string_view bytes) {
  static_cast<void>(api::find_encryption(bytes));
  for (const auto* kind :
       {&api::kind_of<api::core::v1::Pod>(), &api::kind_of<api::networking::v1::Ingress>(),
        &api::kind_of<api::autoscaling::v2::HorizontalPodAutoscaler>(),
        &api::kind_of<api::apiextensions::v1::CustomResourceDefinition>(),
        static_cast<const api::kind_info*>(nullptr)}) {
    const auto stored = api::from_upstream(kind, bytes);
    if (!stored) continue;
    for (const int minor : {api::first_storage_minor, api::last_storage_minor}) {
      const auto written = api::to_upstream(kind, *stored, minor);
      require(api::from_upstream(kind, written).has_value(), "a value that is written is read");
    }
  }
}

}  // namespace

void add_upstream_values(std::vector<entry>& to) {
  to.push_back({"upstream_value", &values, &read_value});
}

}  // namespace troupe::fuzz
