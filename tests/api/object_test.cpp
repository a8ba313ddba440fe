#include "api/object/object.hpp"

#include <google/protobuf/message.h>
#include <google/protobuf/unknown_field_set.h>

#include <catch2/catch.hpp>
#include <thread>

#include "api/codec/codec.hpp"
#include "api/schema/core_v1.pb.h"
#include "api/scheme.hpp"

namespace troupe::api {
namespace {

object_ptr pod(const std::string& name, std::uint64_t revision) {
  auto content = std::make_unique<core::v1::Pod>();
  content->mutable_metadata()->set_name(name);
  content->mutable_metadata()->set_resource_version("stale");
  content->mutable_spec()->set_node_name("n1");
  return std::make_shared<object>(kind_of<core::v1::Pod>(), std::move(content), revision);
}

}  // namespace

TEST_CASE("an object carries the revision at which it was committed") {
  CHECK(pod("a", 42)->meta().resource_version() == "42");
  CHECK_FALSE(pod("a", 0)->meta().has_resource_version());
  CHECK(pod("a", 42)->as<core::v1::Pod>().spec().node_name() == "n1");
  CHECK(pod("a", 42)->copy_as<core::v1::Pod>()->metadata().name() == "a");
}

TEST_CASE("an object is encoded once, whoever asks first") {
  const auto object = pod("a", 42);
  std::vector<std::thread> readers;
  std::vector<shared_text> json(8), protobuf(8);
  for (int i = 0; i < 8; ++i)
    readers.emplace_back([&, i] {
      json[i] = object->json_text();
      protobuf[i] = object->protobuf_text();
    });
  for (auto& each : readers)
    each.join();
  for (int i = 0; i < 8; ++i) {
    CHECK(json[i] == json[0]);
    CHECK(protobuf[i] == protobuf[0]);
  }
  CHECK(object->json().starts_with(
      R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","resourceVersion":"42")"));
}

TEST_CASE("a removed object is its last state with another revision, whoever reads first") {
  const auto last = pod("a", 42);
  const auto removed = object::revised(last, 43);
  std::vector<std::thread> readers;
  std::vector<const core::v1::Pod*> bodies(8);
  std::vector<std::string> revisions(8);
  std::vector<const meta::v1::ObjectMeta*> before(8), after(8);
  for (int i = 0; i < 8; ++i)
    readers.emplace_back([&, i] {
      // Half of them read the metadata before the body.
      if (i % 2 == 0) before[i] = &removed->meta();
      bodies[i] = &removed->as<core::v1::Pod>();
      after[i] = &removed->meta();
      revisions[i] = after[i]->resource_version();
    });
  for (auto& each : readers)
    each.join();
  for (int i = 0; i < 8; ++i) {
    CHECK(bodies[i] == bodies[0]);
    CHECK(revisions[i] == "43");
    CHECK(after[i] == after[0]);
    if (before[i] != nullptr) CHECK(before[i] == after[i]);  // it stays where it is
  }
  CHECK(bodies[0]->metadata().resource_version() == "43");
  CHECK(bodies[0]->spec().node_name() == "n1");
  CHECK(removed->encoded_bytes() == last->encoded_bytes());
  CHECK(last->meta().resource_version() == "42");
  // Again with another revision, and of one that is only stored.
  const auto stored = to_storage(kind_of<core::v1::Pod>(), last->content());
  const auto encoded = object::encoded(kind_of<core::v1::Pod>(), stored, 42, nullptr);
  for (const auto& each : {object::revised(removed, 44), object::revised(encoded, 44)})
    CHECK(each->json() == pod("a", 44)->json());
}

TEST_CASE("unused texts are dropped") {
  const auto before = object::text_bytes();
  const auto object = pod("a", 42);
  const auto text = object->json_text();
  CHECK(object::text_bytes() == before + text.size());
  object->forget_texts();  // the text was used since the last call
  CHECK(object->json_text() == text);
  object->forget_texts();
  object->forget_texts();
  CHECK(object::text_bytes() == before);
  CHECK(*object->json_text() == *text);
  CHECK(object->json_text() != text);
}

TEST_CASE("stored bytes have no resourceVersion and do not depend on it") {
  const kind_info& kind = kind_of<core::v1::Pod>();
  core::v1::Pod first;
  first.mutable_metadata()->set_name("a");
  for (int i = 0; i < 20; ++i)
    (*first.mutable_metadata()->mutable_labels())[std::to_string(i)] = "x";
  core::v1::Pod second(first);
  second.mutable_metadata()->set_resource_version("17");
  CHECK(to_storage(kind, first) == to_storage(kind, second));
  CHECK(to_storage(kind, first).find("17", 4) == to_storage(kind, second).find("17", 4));
}

TEST_CASE("stored bytes keep unknown fields") {
  const kind_info& kind = kind_of<core::v1::Pod>();
  core::v1::Pod first;
  first.mutable_metadata()->set_name("a");
  first.mutable_spec()->set_node_name("n1");
  const auto add_unknown = [](body& to) {
    auto& unknown = *to.GetReflection()->MutableUnknownFields(&to);
    unknown.AddFixed64(1, 3);  // the number of metadata, but no message
    unknown.AddVarint(6, 4);   // that of resourceVersion, but no text
    unknown.AddGroup(90)->AddVarint(1, 2);
    unknown.AddLengthDelimited(91, "x");
  };
  add_unknown(first);
  add_unknown(*first.mutable_metadata());
  add_unknown(*first.mutable_spec());
  const auto stored = to_storage(kind, first);
  const auto read = object::from_storage(kind, stored, 17);
  REQUIRE(read);
  CHECK((*read)->meta().resource_version() == "17");
  CHECK((*read)->meta().name() == "a");
  CHECK(to_storage(kind, (*read)->content()) == stored);
}

TEST_CASE("stored bytes of another kind, or broken ones, are reported") {
  const kind_info& kind = kind_of<core::v1::Pod>();
  const auto message = [&](std::string_view bytes) {
    const auto read = object::from_storage(kind, bytes, 1);
    REQUIRE_FALSE(read);
    CHECK(read.error().code == 500);
    return read.error().message;
  };
  const std::string node = to_storage(kind_of<core::v1::Node>(), core::v1::Node());
  CHECK(message(node).find("it says it is v1 Node") != std::string::npos);
  CHECK(message("garbage").find("a stored object of kind Pod cannot be read") != std::string::npos);
  std::string broken = to_storage(kind, pod("abc", 1)->content());
  broken[broken.find("abc") - 1] = '\x7f';
  CHECK(message(broken).find("malformed") != std::string::npos);
}

}  // namespace troupe::api
