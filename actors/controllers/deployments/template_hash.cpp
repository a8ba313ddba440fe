#include "actors/controllers/deployments/template_hash.hpp"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include "actors/controllers/kit/name_hash.hpp"
#include "api/schema/core_pod.pb.h"
#include "api/strategy/defaults.hpp"

namespace troupe::actors::deployments {

namespace {

using api::core::v1::PodTemplateSpec;

// Maps are encoded in the order of their keys, so that equal messages have equal bytes.
std::string encode(const PodTemplateSpec& pod_template) {
  std::string bytes;
  {
    google::protobuf::io::StringOutputStream stream{&bytes};
    google::protobuf::io::CodedOutputStream out{&stream};
    out.SetSerializationDeterministic(true);
    pod_template.SerializeToCodedStream(&out);
  }
  return bytes;
}

std::string encode_without_hash(const PodTemplateSpec& pod_template) {
  PodTemplateSpec bare{pod_template};
  bare.mutable_metadata()->mutable_labels()->erase(hash_label);
  return encode(bare);
}

}  // namespace

std::string template_hash(const PodTemplateSpec& pod_template, std::int32_t collisions) {
  return name_hash(encode_without_hash(pod_template), collisions);
}

// A template stored by another or an older program may lack defaults that the template of a new
// ReplicaSet has.
bool same_template(const PodTemplateSpec& a, const PodTemplateSpec& b) {
  const auto complete = [](PodTemplateSpec bare) {
    bare.mutable_metadata()->mutable_labels()->erase(hash_label);
    api::set_schema_defaults(bare);
    return encode(bare);
  };
  return encode_without_hash(a) == encode_without_hash(b) || complete(a) == complete(b);
}

}  // namespace troupe::actors::deployments
