// Objects of custom kinds in the store: keys with groups, history, kinds that are removed and added
// again; and a store of an older program.
#include <catch2/catch.hpp>
#include <filesystem>

#include "api/object/custom_body.hpp"
#include "api/object/object_key.hpp"
#include "api/schema/custom.pb.h"
#include "api/scheme.hpp"
#include "build_paths.hpp"
#include "persistence/fixture.hpp"

namespace troupe::persistence::testing {
namespace {

// Registered in the scheme for the duration of a test.
class custom_kind {
 public:
  explicit custom_kind(const std::string& group) {
    api::Kind options;
    options.set_group(group);
    options.set_version("v1");
    options.set_kind("Widget");
    options.set_plural("widgets");
    options.set_namespaced(true);
    kind_ = *api::scheme::instance().put(std::move(options));
  }
  ~custom_kind() {
    if (const auto left = api::scheme::instance().find_key(kind_->prefix()))
      api::scheme::instance().remove(*left);
  }
  custom_kind(const custom_kind&) = delete;
  custom_kind& operator=(const custom_kind&) = delete;

  const api::kind_info& operator*() const { return *kind_; }
  const api::kind_info* operator->() const { return kind_.get(); }

 private:
  api::kind_handle kind_;
};

mutation put_widget(const api::kind_info& kind, const std::string& value) {
  auto content = std::make_unique<api::CustomBody>();
  content->mutable_metadata()->set_name("a");
  content->mutable_metadata()->set_namespace_("default");
  content->set_rest(R"({"spec":{"value":")" + value + R"("}})");
  return {kind.key("default", "a"), &kind, std::move(content)};
}

std::string value_at(const api::object_ptr& object) {
  return object ? api::as_custom(object->content()).rest() : "none";
}

}  // namespace

TEST_CASE("two groups with the same plural stand apart, in the store and in its history") {
  scratch_directory place;
  const custom_kind one{"one.example.com"}, other{"other.example.com"};
  const auto check = [&](const store& store) {
    const auto state = store.read();
    CHECK(value_at(state.find("/registry/one.example.com/widgets/default/a")) ==
          R"({"spec":{"value":"2"}})");
    CHECK(value_at(state.find("/registry/other.example.com/widgets/default/a")) ==
          R"({"spec":{"value":"3"}})");
    CHECK(state.count(one->prefix()) == 1);
    CHECK(state.count(other->prefix("default")) == 1);
    const auto log = *store.changes(1, 100);
    REQUIRE(log.size() == 3);
    CHECK(value_at(log[1].object) == R"({"spec":{"value":"3"}})");
    CHECK(value_at(log[2].previous) == R"({"spec":{"value":"1"}})");
    CHECK(log[2].object->json().find(R"("apiVersion":"one.example.com/v1")") != std::string::npos);
  };
  {
    const auto store = open(in_directory(place.path()));
    must(commit(*store, just(put_widget(*one, "1"))));
    must(commit(*store, just(put_widget(*other, "3"))));
    must(commit(*store, just(put_widget(*one, "2"))));
    check(*store);
  }
  check(*open(in_directory(place.path())));
  CHECK(problems_in(place.path()).empty());
}

TEST_CASE(
    "a store opens with objects of an unregistered kind, and serves them once it is registered") {
  scratch_directory place;
  std::string key;
  {
    const custom_kind kind{"one.example.com"};
    key = kind->key("default", "a");
    const auto store = open(in_directory(place.path()));
    must(commit(*store, just(put_widget(*kind, "1"))));
    must(commit(*store, just(put_widget(*kind, "2"))));
  }
  REQUIRE(api::scheme::instance().find_key(key) == nullptr);
  const auto store = open(in_directory(place.path()));
  const auto found = store->read().find(key);
  REQUIRE(found);
  CHECK(found->kind().kind() == "Widget");
  CHECK(api::key_of(*found) == key);
  CHECK(store->changes(1, 100)->size() == 2);
  const custom_kind kind{"one.example.com"};
  must(commit(*store, just(put_widget(*kind, "3"))));
  CHECK(&store->read().find(key)->kind() == &*kind);
  CHECK(value_at(store->changes(1, 100)->back().previous) == R"({"spec":{"value":"2"}})");
  must(commit(*store, just({key, &*kind, nullptr})));
  CHECK(store->read().find(key) == nullptr);
}

TEST_CASE("an object outlives the kind that it was made of") {
  scratch_directory place;
  const auto store = open(in_directory(place.path()));
  api::object_ptr kept;
  {
    const custom_kind kind{"one.example.com"};
    must(commit(*store, just(put_widget(*kind, "1"))));
    kept = store->read().find(kind->key("default", "a"));
  }
  CHECK(kept->kind().qualified_plural() == "widgets.one.example.com");
  CHECK(kept->json().find(R"("kind":"Widget")") != std::string::npos);
}

// Created by the program before kinds were data (revision 9df3224): a node with its fleet, a config
// map that was changed, one that was deleted, a service, a deployment with its pod.
TEST_CASE("a store that an older program made opens with its history") {
  scratch_directory place;
  std::filesystem::copy(std::string{TROUPE_SOURCE_DIR} + "/tests/persistence/old_store",
                        place.path(), std::filesystem::copy_options::recursive);
  const auto store = open(in_directory(place.path()));
  const auto state = store->read();
  std::size_t objects = 0;
  state.scan("/registry/", {}, [&](std::string_view key, const api::object_ptr& object) {
    ++objects;
    CHECK(api::key_of(*object) == key);
    CHECK(object->kind().type().full_name() == object->content().GetDescriptor()->full_name());
    return true;
  });
  CHECK(objects > 20);
  CHECK(state.find("/registry/services/default/web"));
  CHECK(state.find("/registry/deployments/default/web"));
  const auto kept = state.find("/registry/configmaps/default/kept");
  REQUIRE(kept);
  CHECK(kept->as<api::core::v1::ConfigMap>().data().at("k") == "2");

  const auto log = store->changes(1, 1000);
  REQUIRE(log.has_value());
  std::vector<std::string> seen;
  for (const auto& each : *log)
    if (each.key.starts_with("/registry/configmaps/default/"))
      seen.push_back(each.key.substr(29) + (each.type == change_type::created   ? " created"
                                            : each.type == change_type::updated ? " updated"
                                                                                : " removed"));
  CHECK(seen ==
        std::vector<std::string>{"kept created", "kept updated", "gone created", "gone removed"});
  must(commit(*store, just(put("new", "1"))));
}

}  // namespace troupe::persistence::testing
