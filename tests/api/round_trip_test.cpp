// Random objects of every kind through every encoding of transport and storage.
#include <google/protobuf/message.h>
#include <google/protobuf/util/message_differencer.h>

#include <catch2/catch.hpp>

#include "api/codec/codec.hpp"
#include "api/codec/envelope.hpp"
#include "api/object/object.hpp"
#include "api/schema/core_pod.pb.h"
#include "api/schema/meta_object.pb.h"
#include "api/scheme.hpp"
#include "support/random_message.hpp"

namespace troupe::api {
namespace {

using google::protobuf::util::MessageDifferencer;

constexpr int seeds_per_kind = 40;

// The difference, or an empty text.
std::string difference(const body& expected, const body& actual) {
  MessageDifferencer differencer;
  std::string out;
  differencer.ReportDifferencesToString(&out);
  differencer.Compare(expected, actual);
  return out;
}

// Calls check(kind, object) for objects of all kinds.
template <class Check>
void each_object(const Check& check) {
  for (const auto style : {random_options::mode::realistic, random_options::mode::hostile}) {
    random_options options;
    options.style = style;
    for (const kind_info* kind : scheme::instance().all())
      for (int seed = 0; seed < seeds_per_kind; ++seed) {
        INFO(kind->qualified_kind() << " seed " << seed << " style " << static_cast<int>(style));
        check(*kind, *random_object(*kind, seed, options));
      }
  }
}

void require_same(const body& expected, const api::expected<decoded>& actual) {
  if (!actual) FAIL(actual.error().message);
  REQUIRE(difference(expected, *actual->content) == "");
  REQUIRE(actual->warnings.empty());
}

decode_options strict() {
  decode_options options;
  options.fields = field_validation::strict;
  return options;
}

}  // namespace

TEST_CASE("an object of any kind survives JSON") {
  each_object([](const kind_info& kind, const body& object) {
    const std::string json = encode_json(object, kind.api_version(), kind.kind());
    INFO(json);
    require_same(object, decode(json, media::json, nullptr, strict()));
  });
}

TEST_CASE("an object of any kind survives protobuf") {
  each_object([](const kind_info& kind, const body& object) {
    const std::string bytes = encode_protobuf(object, kind.api_version(), kind.kind());
    require_same(object, decode(bytes, media::protobuf, nullptr, strict()));
  });
}

TEST_CASE("an object of any kind survives YAML") {
  each_object([](const kind_info& kind, const body& object) {
    const std::string yaml = encode_yaml(object, kind.api_version(), kind.kind());
    INFO(yaml);
    require_same(object, decode(yaml, media::yaml, nullptr, strict()));
  });
}

TEST_CASE("an object of any kind survives storage, and its revision comes from the store") {
  each_object([](const kind_info& kind, const body& made) {
    std::unique_ptr<body> object(made.New());
    object->CopyFrom(made);
    meta_of(*object).set_resource_version("999");
    const std::string bytes = to_storage(kind, *object);
    const auto read = object::from_storage(kind, bytes, 77);
    if (!read) FAIL(read.error().message);
    meta_of(*object).set_resource_version("77");
    REQUIRE(difference(*object, (*read)->content()) == "");
    REQUIRE(to_storage(kind, (*read)->content()) == bytes);
  });
}

TEST_CASE("the same seed makes the same object") {
  const kind_info& pod = *scheme::instance().find("v1", "Pod");
  std::string first, second;
  append_wire(first, *random_object(pod, 7));
  append_wire(second, *random_object(pod, 7));
  REQUIRE(first == second);
  std::string other;
  append_wire(other, *random_object(pod, 8));
  REQUIRE(first != other);
}

TEST_CASE("a type is filled by a function of its own where there is one") {
  random_options options;
  options.presence = 1;
  options.own = [](body& into, random_source&) {
    if (into.GetDescriptor() != core::v1::Container::descriptor()) return false;
    static_cast<core::v1::Container&>(into).set_name("mine");
    return true;
  };
  const kind_info& pod = *scheme::instance().find("v1", "Pod");
  const auto made = random_object(pod, 7, options);
  const auto& containers = static_cast<const core::v1::Pod&>(*made).spec().containers();
  REQUIRE_FALSE(containers.empty());
  for (const auto& each : containers) {
    CHECK(each.name() == "mine");
    CHECK_FALSE(each.has_image());
  }
}

// Bytes of a valid object, partly changed, cut or doubled: the decoder must not crash, and accepted
// objects must be encodable.
TEST_CASE("broken bytes are refused with a 4xx or read as something that can be written") {
  random_source random(20260101);
  const auto at = [&](std::size_t size) {
    return std::uniform_int_distribution<std::size_t>(0, size - 1)(random);
  };
  int refused = 0;
  for (const kind_info* kind : scheme::instance().all())
    for (int seed = 0; seed < 30; ++seed)
      for (const media form : {media::json, media::protobuf, media::yaml}) {
        const auto object = random_object(*kind, seed);
        std::string bytes =
            form == media::json   ? encode_json(*object, kind->api_version(), kind->kind())
            : form == media::yaml ? encode_yaml(*object, kind->api_version(), kind->kind())
                                  : encode_protobuf(*object, kind->api_version(), kind->kind());
        for (int i = 0; i < 3; ++i)
          bytes[at(bytes.size())] = static_cast<char>(random());
        if (random() % 4 == 0) bytes.resize(at(bytes.size()));
        INFO(kind->qualified_kind() << " seed " << seed << " form " << static_cast<int>(form));
        const auto read = decode(bytes, form, kind);
        if (!read) {
          ++refused;
          REQUIRE(read.error().code == 400);
          continue;
        }
        const std::string again = encode_json(*read->content, kind->api_version(), kind->kind());
        INFO(again);
        const auto reread = decode(again, media::json, kind);
        if (!reread) FAIL(reread.error().message);
      }
  REQUIRE(refused > 100);
}

}  // namespace troupe::api
