#include "actors/controllers/deployments/template_hash.hpp"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include "api/schema/core_pod.pb.h"

namespace troupe::actors::deployments {

namespace {

using api::core::v1::PodTemplateSpec;

// Maps are written in order of their keys, so that equal messages have equal bytes.
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
  std::uint32_t hash = 2166136261u;
  const auto mix = [&hash](unsigned char byte) { hash = (hash ^ byte) * 16777619u; };
  for (const char c : encode_without_hash(pod_template))
    mix(static_cast<unsigned char>(c));
  for (auto rest = static_cast<std::uint32_t>(collisions); rest != 0; rest >>= 8)
    mix(static_cast<unsigned char>(rest & 0xff));

  static constexpr char alphabet[] = "bcdfghjklmnpqrstvwxz2456789";
  std::string name;
  for (const char digit : std::to_string(hash))
    name += alphabet[static_cast<std::size_t>(digit - '0')];
  return name;
}

bool same_template(const PodTemplateSpec& a, const PodTemplateSpec& b) {
  return encode_without_hash(a) == encode_without_hash(b);
}

}  // namespace troupe::actors::deployments
