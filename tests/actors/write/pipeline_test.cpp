// The stages of a write and the order of the plugins in them.
#include "actors/write/pipeline.hpp"

#include <catch2/catch.hpp>
#include <random>

#include "actors/write/admission_fixture.hpp"
#include "actors/write/creation.hpp"
#include "api/schema/core_namespace.pb.h"

namespace troupe::test {

using actors::draft;
using actors::proposal;
using actors::write_plan;
using actors::admission::operation;
using api::core::v1::ConfigMap;
using api::core::v1::Namespace;
using api::core::v1::Pod;
namespace admission = actors::admission;

namespace {

using record = std::shared_ptr<std::string>;

// Records its calls, and fixes the label "mended" if it is not valid.
class recording final : public admission::plugin {
 public:
  recording(std::string name, record calls) : name_{std::move(name)}, calls_{std::move(calls)} {}

  std::string_view name() const noexcept override { return name_; }
  bool handles(const api::kind_info& kind, operation op) const override {
    return &kind == &api::kind_of<ConfigMap>() && op != operation::connect;
  }
  admission::verdict mutate(const admission::attributes& of, api::body& now,
                            persistence::transaction&) const override {
    note(of, "mutate");
    auto& labels = *api::meta_of(now).mutable_labels();
    if (labels.contains("mended")) labels["mended"] = "yes";
    return {};
  }
  admission::verdict validate(const admission::attributes& of) const override {
    note(of, "validate");
    return {};
  }
  admission::verdict reserve(const admission::attributes& of,
                             persistence::transaction& into) const override {
    note(of, into.mutations.empty() ? "nothing" : "reserve");
    return {};
  }

 private:
  void note(const admission::attributes& of, std::string_view stage) const {
    *calls_ += name_ + "." + std::string{stage} + (of.meta().uid().empty() ? " " : "! ");
  }

  std::string name_;
  record calls_;
};

proposal creation(std::unique_ptr<api::body> content) {
  const auto& kind = api::kind_of_type(*content->GetDescriptor());
  return {.kind = &kind, .after = std::move(content)};
}

struct stages {
  cluster c{1, without_controllers()};
  record calls = std::make_shared<std::string>();
  admission::chain chain{
      {std::make_shared<recording>("a", calls), std::make_shared<recording>("b", calls)}};
  std::mt19937_64 random{1};

  api::expected<write_plan> admit(proposal of) {
    draft write{std::move(of), admission::controllers(), false, chain};
    const auto state = c.store().read();
    return actors::admit(write, {chain, state, c.now(), random});
  }
  // As a client: checks whether the name is used.
  api::expected<std::string> name_of(const ConfigMap& content) {
    draft write{creation(std::make_unique<ConfigMap>(content)), admission::controllers(), false,
                chain};
    const auto state = c.store().read();
    const actors::write_context context{chain, state, c.now(), random};
    REQUIRE(actors::prepare(write, context));
    if (auto fine = actors::check_absent(write, context); !fine) return api::fail(fine.error());
    return api::meta_of(*write.of.after).name();
  }
  std::string seen() const { return std::exchange(*calls, {}); }
};

}  // namespace

TEST_CASE("plugins run in their order: all mutate, then all validate, then all reserve",
          "[admission]") {
  stages s;
  REQUIRE(s.admit(creation(config_map("a"))));
  // "!": the object has its identity.
  CHECK(s.seen() == "a.mutate b.mutate a.validate! b.validate! a.reserve! b.reserve! ");
}

TEST_CASE("an object is validated as the plugins leave it, and no plugin judges an invalid one",
          "[admission]") {
  stages s;
  auto mended = config_map("a");
  (*mended->mutable_metadata()->mutable_labels())["mended"] = "not / a / label";
  CHECK(s.admit(creation(std::move(mended))));
  s.seen();
  auto wrong = config_map("a");
  (*wrong->mutable_metadata()->mutable_labels())["other"] = "not / a / label";
  const auto refused = s.admit(creation(std::move(wrong)));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == 422);
  CHECK(s.seen() == "a.mutate b.mutate ");
}

TEST_CASE("a deletion is validated alone, a write of other kinds meets no plugin", "[admission]") {
  stages s;
  const auto map = s.c.create(*config_map("a"));
  s.seen();
  REQUIRE(s.admit({.kind = &map->kind(),
                   .op = operation::remove,
                   .rules = actors::write_rules::as_is,
                   .before = map}));
  CHECK(s.seen() == "a.validate! b.validate! ");
  REQUIRE(s.admit(creation(std::make_unique<Pod>(web_pod()))));
  CHECK(s.seen().empty());
}

TEST_CASE("a write of a part of an object meets the plugins that handle parts", "[admission]") {
  stages s;
  const auto map = s.c.create(*config_map("a"));
  REQUIRE(s.admit({.kind = &map->kind(),
                   .op = operation::create,
                   .subresource = "binding",
                   .rules = actors::write_rules::as_is,
                   .before = map,
                   .after = map->copy()}));
  CHECK(s.seen().empty());
}

TEST_CASE("an update without a difference changes and reserves nothing", "[admission]") {
  stages s;
  const auto map = s.c.create(*config_map("a", "1"));
  s.seen();
  const auto same = s.admit({.kind = &map->kind(),
                             .op = operation::update,
                             .before = map,
                             .after = config_map("a", "1")});
  REQUIRE(same);
  CHECK(same->transaction.mutations.empty());
  CHECK(s.seen() == "a.mutate b.mutate a.validate! b.validate! ");
}

// Two control planes remove one object: the loser's proposal is made again and finds nothing.
TEST_CASE("a removal of an object that has gone meanwhile changes nothing", "[admission]") {
  stages s;
  draft write{{.kind = &api::kind_of<ConfigMap>(), .op = operation::remove, .settled = true},
              admission::controllers(),
              false,
              s.chain};
  const auto state = s.c.store().read();
  const actors::write_context context{s.chain, state, s.c.now(), s.random};
  REQUIRE(actors::prepare(write, context));
  REQUIRE(actors::check_absent(write, context));
  const auto plan = actors::finish(write, context);
  REQUIRE(plan);
  CHECK(plan->transaction.mutations.empty());
}

TEST_CASE("a name that is made up and taken is made up again, one that was chosen is not",
          "[admission]") {
  stages s;
  ConfigMap content = *config_map("");
  content.mutable_metadata()->set_generate_name("a-");
  auto taken = content;
  taken.mutable_metadata()->set_name(s.name_of(content).value());
  s.c.create(taken);
  s.random.seed(1);  // would generate the same name
  CHECK(s.name_of(content).value() != taken.metadata().name());
  CHECK(s.name_of(taken).error().reason == "AlreadyExists");
}

TEST_CASE("a controller's pod passes the same admission as a client's", "[admission]") {
  cluster c{1, without_controllers()};
  std::mt19937_64 random{1};
  const auto made = actors::create_transaction(c.store().read(), api::kind_of<Pod>(),
                                               std::make_unique<Pod>(web_pod()),
                                               actors::checks::done_before, c.now(), random);
  REQUIRE(made);
  const auto& pod = static_cast<const Pod&>(*made->mutations.at(0).content);
  CHECK(pod.spec().service_account_name() == "default");
  CHECK(pod.spec().has_priority());
  CHECK(pod.spec().tolerations_size() == 2);
  CHECK(pod.status().qos_class() == "BestEffort");
  REQUIRE(made->preconditions.size() == 2);
  CHECK(made->preconditions[0].at == 0);
  CHECK(made->preconditions[1].at == c.find<Namespace>({}, "default")->revision());
}

}  // namespace troupe::test
