// Objects in all their forms, and patches.
#include <google/protobuf/message.h>

#include <memory>

#include "api/codec/codec.hpp"
#include "api/codec/envelope.hpp"
#include "api/codec/json_decode.hpp"
#include "api/conversion/conversion.hpp"
#include "api/equality.hpp"
#include "api/object/object.hpp"
#include "api/patch/patch.hpp"
#include "api/schema/core_pod.pb.h"
#include "api/scheme.hpp"
#include "api/v1beta1/v1beta1.hpp"
#include "support/random_message.hpp"
#include "tools/fuzz/entries.hpp"

namespace troupe::fuzz {
namespace {

using api::media;

constexpr std::string_view between = "\n---\n";  // separates a document and its patch

std::string encoded(const api::body& content, const api::kind_info& kind, media form) {
  if (form == media::json) return api::encode_json(content, kind.api_version(), kind.kind());
  if (form == media::yaml) return api::encode_yaml(content, kind.api_version(), kind.kind());
  return api::encode_protobuf(content, kind.api_version(), kind.kind());
}

template <media form>
std::vector<std::string> object_seeds() {
  std::vector<std::string> out;
  api::random_options small;
  small.presence = 0.2;
  small.list_size_max = 2;
  for (const auto* name : {"Pod", "Service", "Node", "Event", "ConfigMap"}) {
    const auto& kind = *api::scheme::instance().find("v1", name);
    for (std::uint64_t seed = 0; seed < 3; ++seed)
      out.push_back(encoded(*api::random_object(kind, seed, small), kind, form));
  }
  return out;
}

void check_refusal(const api::error& refusal) {
  require(refusal.code >= 400 && refusal.code < 500, "what cannot be read is the client's error");
  require(!refusal.message.empty(), "a refusal says why");
}

template <media form>
void read_object(std::string_view bytes) {
  api::decode_options strict;
  strict.fields = api::field_validation::strict;
  if (const auto read = api::decode(bytes, form, nullptr, strict); !read)
    check_refusal(read.error());
  const auto read = api::decode(bytes, form, nullptr);
  if (!read) return check_refusal(read.error());
  for (const auto again : {media::json, media::yaml, media::protobuf}) {
    const auto text = encoded(*read->content, *read->kind, again);
    const auto reread = api::decode(text, again, read->kind.get());
    require(reread.has_value(), "what was read can be written and read again");
    require(api::same_meaning(*read->content, *reread->content), "in every form it is the same");
  }
}

// -- the versions beside the hub ------------------------------------------------------------------

std::vector<std::string> old_seeds() {
  std::vector<std::string> out;
  api::random_options small;
  small.presence = 0.3;
  for (const api::kind_info* kind : api::conversions::instance().all()) {
    api::random_source random(7);
    auto made = kind->make();
    api::fill_random(*made, random, small);
    out.push_back(api::encode_json(*made, kind->api_version(), kind->kind()));
  }
  return out;
}

void read_old_object(std::string_view bytes) {
  const auto& all = api::conversions::instance();
  const auto read = all.decode(bytes, media::json, nullptr);
  if (!read) return check_refusal(read.error());
  if (read->kind->version() != "v1beta1" || all.hub(*read->kind) == nullptr) return;
  const auto hub = api::v1beta1::to_hub(*read->content);
  const auto back = api::v1beta1::from_hub(*hub, *read->kind);
  require(api::same_meaning(*read->content, *back), "a v1beta1 object comes back from the hub");
}

// -- storage --------------------------------------------------------------------------------------

std::vector<std::string> stored_seeds() {
  const auto& kind = *api::scheme::instance().find("v1", "Pod");
  return {api::to_storage(kind, *api::random_object(kind, 1))};
}

void read_stored(std::string_view bytes) {
  const auto& kind = *api::scheme::instance().find("v1", "Pod");
  const auto read = api::object::from_storage(kind, bytes, 7);
  if (!read) return require(read.error().code == 500, "damaged bytes are the server's matter");
  require((*read)->revision() == 7, "the revision comes from the store");
  static_cast<void>(api::to_storage(kind, (*read)->content()));
}

// -- patches --------------------------------------------------------------------------------------

template <api::patch_form form>
void patch(std::string_view bytes) {
  const auto at = bytes.find(between);
  if (at == std::string_view::npos) return;
  const auto& type = *api::core::v1::Pod::descriptor();
  const auto document = bytes.substr(0, at);
  const auto change = bytes.substr(at + between.size());
  const auto made = api::apply_patch(form, type, document, change);
  if (!made) return check_refusal(made.error());
  require(api::is_json(*made, 10'000), "a patched document is JSON");
}

std::vector<std::string> patch_seeds(const std::string& change) {
  const std::string document =
      R"({"metadata":{"name":"a","labels":{"x":"1"}},"spec":{"containers":[{"name":"c","image":"i"}]}})";
  return {document + std::string(between) + change};
}

std::vector<std::string> json_patches() {
  return patch_seeds(R"([{"op":"replace","path":"/metadata/name","value":"b"},{"op":"test",)"
                     R"("path":"/spec/containers/0/name","value":"c"},{"op":"move",)"
                     R"("from":"/metadata/labels","path":"/spec/x"},{"op":"copy",)"
                     R"("from":"/spec","path":"/y"},{"op":"remove","path":"/spec/containers/0"}])");
}
std::vector<std::string> merge_patches() {
  return patch_seeds(R"({"metadata":{"labels":{"x":null,"y":"2"}},"spec":{"containers":[]}})");
}
std::vector<std::string> strategic_patches() {
  return patch_seeds(
      R"({"spec":{"$setElementOrder/containers":[{"name":"d"},{"name":"c"}],)"
      R"("containers":[{"name":"d"},{"name":"c","$patch":"delete"}]},)"
      R"("metadata":{"$retainKeys":["name"],"$deleteFromPrimitiveList/finalizers":["f"]}})");
}

}  // namespace

void add_documents(std::vector<entry>& to) {
  to.push_back({"json", &object_seeds<media::json>, &read_object<media::json>});
  to.push_back({"yaml", &object_seeds<media::yaml>, &read_object<media::yaml>});
  to.push_back({"protobuf", &object_seeds<media::protobuf>, &read_object<media::protobuf>});
  to.push_back({"v1beta1", &old_seeds, &read_old_object});
  to.push_back({"stored", &stored_seeds, &read_stored});
  to.push_back({"json_patch", &json_patches, &patch<api::patch_form::json>});
  to.push_back({"merge_patch", &merge_patches, &patch<api::patch_form::merge>});
  to.push_back({"strategic_patch", &strategic_patches, &patch<api::patch_form::strategic>});
}

}  // namespace troupe::fuzz
