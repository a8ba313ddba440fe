// Objects of custom kinds: their JSON, storage, patches, and fields that a write keeps.
#include "api/object/custom_body.hpp"

#include <google/protobuf/message.h>

#include <catch2/catch.hpp>

#include "api/codec/codec.hpp"
#include "api/equality.hpp"
#include "api/object/object.hpp"
#include "api/patch/patch.hpp"
#include "api/scheme.hpp"
#include "api/strategy/strategy.hpp"

namespace troupe::api {
namespace {

kind_handle widget_kind(bool with_status = true) {
  Kind options;
  options.set_group("stable.example.com");
  options.set_version("v1");
  options.set_kind("Widget");
  options.set_plural("widgets");
  options.set_namespaced(true);
  options.set_has_generation(true);
  options.set_has_status(with_status);
  return kind_info::make_custom(std::move(options));
}

std::unique_ptr<body> widget(const kind_info& kind, std::string_view rest) {
  const std::string json = R"({"apiVersion":"stable.example.com/v1","kind":"Widget",)"
                           R"("metadata":{"name":"a","namespace":"default"})" +
                           std::string(rest.empty() ? "" : ",") + std::string(rest) + "}";
  auto read = decode(json, media::json, &kind);
  REQUIRE(read.has_value());
  return std::move(read->content);
}

std::string error_of(std::string_view json, const kind_info& kind,
                     field_validation fields = field_validation::ignore) {
  const auto read = decode(json, media::json, &kind, {.fields = fields});
  REQUIRE_FALSE(read.has_value());
  return read.error().message;
}

}  // namespace

TEST_CASE("a custom object is written as it came, members in order of name") {
  const auto kind = widget_kind();
  const auto content =
      widget(*kind, R"("spec":{"z":null,"a":[1,1.50,1e3,"x\u0000y",{}],"b":true},"data":"top")");
  const object stored(*kind, widget(*kind, R"("spec":{"b":1})"), 7);
  CHECK(encode_json(*content, kind->api_version(), kind->kind()) ==
        R"({"kind":"Widget","apiVersion":"stable.example.com/v1",)"
        R"("metadata":{"name":"a","namespace":"default"},)"
        R"("data":"top","spec":{"a":[1,1.5,1000,"x\u0000y",{}],"b":true,"z":null}})");
  CHECK(stored.json().find(R"("resourceVersion":"7")") != std::string::npos);
  CHECK(stored.json().ends_with(R"(,"spec":{"b":1}})"));
}

TEST_CASE("equal custom objects have equal bytes, however they were written") {
  const auto kind = widget_kind();
  const auto a = widget(*kind, R"("spec":{"x":1,"y":{"q":2,"p":[]}})");
  const auto b = widget(*kind, R"( "spec" : { "y":{"p":[ ],"q":2.0}, "x":1 } )");
  CHECK(same_meaning(*a, *b));
  CHECK(to_storage(*kind, *a) == to_storage(*kind, *b));
  CHECK_FALSE(same_meaning(*a, *widget(*kind, R"("spec":{"x":2,"y":{"q":2,"p":[]}})")));
  CHECK_FALSE(same_meaning(*a, *widget(*kind, "")));
}

TEST_CASE("a custom object is stored as JSON without its revision") {
  const auto kind = widget_kind();
  const object committed(*kind, widget(*kind, R"("spec":{"x":1})"), 42);
  const auto stored = to_storage(*kind, committed.content());
  CHECK(stored.starts_with(R"({"kind":"Widget","apiVersion":"stable.example.com/v1","metadata":)"));
  CHECK(stored.find("resourceVersion") == std::string::npos);
  const auto read = object::from_storage(*kind, stored, 43);
  REQUIRE(read.has_value());
  CHECK((*read)->meta().resource_version() == "43");
  CHECK(to_storage(*kind, (*read)->content()) == stored);
  CHECK_FALSE(object::from_storage(*kind, stored.substr(1), 43).has_value());
  CHECK_FALSE(object::from_storage(*kind, "k8s", 43).has_value());
}

TEST_CASE("errors in a custom object are reported like those of any object") {
  const auto kind = widget_kind();
  CHECK(error_of("[]", *kind) ==
        "Widget in version \"v1\" cannot be handled as a Widget: json: the document must be an "
        "object");
  CHECK(error_of(R"({"kind":"Gadget"})", *kind).find("does not match the expected kind") !=
        std::string::npos);
  CHECK(error_of(R"({"metadata":{"labels":1}})", *kind).find("labels") != std::string::npos);
  CHECK(error_of(R"({"spec":1e999})", *kind).find("too big") != std::string::npos);
  const std::string deep(2000, '[');
  CHECK_FALSE(decode(R"({"spec":)" + deep + std::string(2000, ']') + "}", media::json, kind.get())
                  .has_value());
  CHECK(
      error_of(R"({"metadata":{"nme":"a"},"spec":{"x":1,"x":2}})", *kind, field_validation::strict)
          .ends_with(R"(strict decoding error: duplicate field "spec.x", )"
                     R"(unknown field "metadata.nme")"));
  const auto last =
      decode(R"({"metadata":{"name":"a"},"spec":{"x":1,"x":2}})", media::json, kind.get());
  REQUIRE(last.has_value());
  CHECK(as_custom(*last->content).rest() == R"({"spec":{"x":2}})");
}

TEST_CASE("custom kinds have no protobuf") {
  const auto kind = widget_kind();
  const auto pod = encode_protobuf(*widget(*kind, ""), kind->api_version(), kind->kind());
  const auto read = decode(pod, media::protobuf, kind.get());
  REQUIRE_FALSE(read.has_value());
  CHECK(read.error().code == 415);
}

TEST_CASE("custom objects are changed by merge and JSON patches, and by no strategic ones") {
  const auto kind = widget_kind();
  const object was(*kind, widget(*kind, R"("spec":{"x":1,"y":2})"), 1);
  const auto patched = [&](patch_form form, std::string_view patch) {
    return apply_patch(form, kind->type(), was.json(), patch);
  };
  const auto merged = patched(patch_form::merge, R"({"spec":{"x":null,"z":[3]}})");
  REQUIRE(merged.has_value());
  CHECK(as_custom(*decode(*merged, media::json, kind.get())->content).rest() ==
        R"({"spec":{"y":2,"z":[3]}})");
  CHECK(patched(patch_form::json, R"([{"op":"test","path":"/spec/x","value":1}])").has_value());
  CHECK(patched(patch_form::strategic, "{}").error().code == 415);
}

TEST_CASE("a custom status is written apart where the kind has one, and counts no generation") {
  const auto kind = widget_kind();
  std::uint64_t seed = 1;
  const random_bits random = [&seed] { return seed++; };
  auto made = widget(*kind, R"("spec":{"x":1},"status":{"y":1})");
  prepare_create(*kind, *made, {.uid = "u", .now_seconds = 1, .random = random});
  CHECK(as_custom(*made).rest() == R"({"spec":{"x":1}})");
  CHECK(meta_of(*made).generation() == 1);

  auto reported = widget(*kind, R"("spec":{"x":5},"status":{"y":2},"other":1)");
  prepare_status_update(*kind, *reported, *made);
  CHECK(as_custom(*reported).rest() == R"({"spec":{"x":1},"status":{"y":2}})");
  CHECK(meta_of(*reported).generation() == 1);

  auto next = widget(*kind, R"("spec":{"x":2},"status":{"y":9},"a":0)");
  prepare_update(*kind, *next, *reported);
  CHECK(as_custom(*next).rest() == R"({"a":0,"spec":{"x":2},"status":{"y":2}})");
  CHECK(meta_of(*next).generation() == 2);
}

TEST_CASE("without a status of its own a custom kind's status is like any other member") {
  const auto kind = widget_kind(false);
  const auto was = widget(*kind, R"("status":{"y":1})");
  meta_of(*was).set_generation(1);
  auto next = widget(*kind, R"("status":{"y":2})");
  prepare_update(*kind, *next, *was);
  CHECK(as_custom(*next).rest() == R"({"status":{"y":2}})");
  CHECK(meta_of(*next).generation() == 2);
}

TEST_CASE("members are found whatever the text around them holds") {
  const auto kind = widget_kind();
  const auto content = widget(*kind, R"("a\"b":"},{","spec":{"status":[{"x":"]"}]},"t":1)");
  auto& custom = as_custom(*content);
  CHECK(member_of(custom, "status").empty());
  CHECK(member_of(custom, "spec") == R"({"status":[{"x":"]"}]})");
  set_member(custom, "status", "[]");
  CHECK(custom.rest() == R"({"a\"b":"},{","spec":{"status":[{"x":"]"}]},"status":[],"t":1})");
  CHECK(without_member(custom, "spec") == R"({"a\"b":"},{","status":[],"t":1})");
  for (const auto* name : {"status", "spec", "t"})
    set_member(custom, name, {});
  CHECK(custom.rest() == R"({"a\"b":"},{"})");
}

TEST_CASE("a stored object of an unknown kind gets a kind from its own content") {
  const auto kind = widget_kind();
  const auto stored = to_storage(*kind, *widget(*kind, R"("spec":{"x":1})"));
  const auto key = kind->key("default", "a");
  const auto found = kind_of_stored(key, stored);
  REQUIRE(found);
  CHECK(found->kind() == "Widget");
  CHECK(found->api_version() == "stable.example.com/v1");
  CHECK(found->namespaced());
  CHECK(found->key("default", "a") == key);
  CHECK(object::from_storage(*found, stored, 5).has_value());
  scheme::instance().remove(*found);
  CHECK(kind_of_stored("/registry/other.example.com/widgets/default/a", stored) == nullptr);
  CHECK(kind_of_stored("/registry/unicorns/default/a", stored) == nullptr);
  CHECK(kind_of_stored(key, "k8s") == nullptr);
}

}  // namespace troupe::api
