// Messages survive the conversion to frames and back; input that no correct peer sends is an error.
#include "actors/link/frames.hpp"

#include <catch2/catch.hpp>
#include <random>

#include "actors/link/defaults.hpp"
#include "actors/link/frame_sender.hpp"
#include "actors/link/stream_frames.hpp"
#include "api/equality.hpp"
#include "api/object/object_key.hpp"
#include "api/schema/core_config.pb.h"
#include "api/schema/core_pod.pb.h"
#include "api/scheme.hpp"
#include "support/random_message.hpp"
#include "support/seeds.hpp"

namespace troupe::test {

using api::core::v1::ConfigMap;
using api::core::v1::Pod;
using Catch::Matchers::Contains;

namespace {

api::object_ptr random_pod(std::uint64_t seed) {
  return std::make_shared<api::object>(api::kind_of<Pod>(),
                                       api::random_object(api::kind_of<Pod>(), seed), seed + 10);
}

bool same(const api::object_ptr& a, const api::object_ptr& b) {
  if (!a || !b) return a == b;
  return a->revision() == b->revision() && api::same_meaning(a->content(), b->content());
}

bool same(const persistence::change_cause& a, const persistence::change_cause& b) {
  return a.request == b.request && a.trigger == b.trigger && a.author == b.author;
}

}  // namespace

TEST_CASE("requests for tokens and their answers cross the link unchanged", "[link]") {
  const actors::request_token request{.order = {.ns = "shop",
                                                .account = "robot",
                                                .audiences = {"a", "b"},
                                                .expiration_seconds = 600,
                                                .bound_kind = "Pod",
                                                .bound_api_version = "v1",
                                                .bound_name = "web",
                                                .bound_uid = "u"}};
  actors::wire::RequestToken out;
  actors::write_request_token(out, 3, request);
  CHECK(out.id() == 3);
  const auto back = actors::read_request_token(out).order;
  CHECK(back.ns == "shop");
  CHECK(back.account == "robot");
  CHECK(back.audiences == request.order.audiences);
  CHECK(back.expiration_seconds == 600);
  CHECK(back.bound_kind == "Pod");
  CHECK(back.bound_name == "web");
  CHECK(back.bound_uid == "u");
  actors::wire::TokenAnswer answer;
  actors::write_token_answer(answer, 4, actors::granted_token{"t", 7});
  CHECK(actors::read_token_answer(answer)->token == "t");
  CHECK(actors::read_token_answer(answer)->expires == 7);
  actors::write_token_answer(answer, 4, api::fail(api::not_found(api::kind_of<Pod>(), "web")));
  CHECK(actors::read_token_answer(answer).error().code == 404);
  CHECK(actors::read_token_answer({}).error().code != 0);
}

TEST_CASE("streams that are opened and refused cross the link unchanged", "[link]") {
  using actors::stream_target;
  actors::wire::OpenStream out;
  for (const auto to : {stream_target::kind::exec, stream_target::kind::attach}) {
    out.Clear();
    actors::write_open_stream(
        out, 3, {.to = to, .container = "process://u/c/0", .exec = {{"sh", "\xff"}, true, true}});
    CHECK(out.ask() == 3);
    CHECK(out.credit() == actors::link_defaults::stream_window_bytes);
    const auto back = actors::read_open_stream(out);
    REQUIRE(back);
    CHECK(back->to == to);
    CHECK(back->container == "process://u/c/0");
    CHECK(back->exec.command == std::vector<std::string>{"sh", "\xff"});
    CHECK(back->exec.input);
    CHECK(back->exec.tty);
  }
  out.Clear();
  actors::write_open_stream(out, 4,
                            {.to = stream_target::kind::port, .pod_uid = "u", .port = 65'535});
  const auto port = actors::read_open_stream(out);
  REQUIRE(port);
  CHECK(port->to == stream_target::kind::port);
  CHECK(port->pod_uid == "u");
  CHECK(port->port == 65'535);
  for (const std::uint32_t none : {0u, 65'536u}) {
    out.set_port(none);
    CHECK_FALSE(actors::read_open_stream(out));
  }
  out.set_kind(static_cast<actors::wire::OpenStream::Kind>(7));
  CHECK_FALSE(actors::read_open_stream(out));

  actors::wire::StreamOpened::Refusal refusal;
  actors::write_refusal(refusal, {actors::runtime_error::kind::not_found, "m", "r"});
  CHECK(actors::read_refusal(refusal).code == actors::runtime_error::kind::not_found);
  CHECK(actors::read_refusal(refusal).message == "m");
  CHECK(actors::read_refusal(refusal).reason == "r");
  refusal.set_kind(static_cast<actors::wire::StreamOpened::Refusal::Kind>(9));
  refusal.set_message(std::string(10'000, 'x'));
  CHECK(actors::read_refusal(refusal).code == actors::runtime_error::kind::failed);
  CHECK(actors::read_refusal(refusal).message.size() == actors::link_defaults::reason_limit_bytes);
}

TEST_CASE("transactions and their outcomes cross the link unchanged", "[link]") {
  for_each_seed(50, [](std::uint64_t seed) {
    const auto pod = random_pod(seed);
    persistence::transaction transaction;
    transaction.preconditions.push_back({api::key_of(*pod), seed});
    transaction.mutations.push_back({api::key_of(*pod), &pod->kind(), pod->copy()});
    transaction.mutations.push_back({"/registry/configmaps/default/gone", nullptr, nullptr});
    transaction.cause = {.request = seed, .trigger = 7, .author = "kubelet/n0"};
    actors::wire::Commit out;
    actors::write_commit(out, 3, transaction);
    const auto back = actors::read_commit(out);
    REQUIRE(back);
    REQUIRE(back->preconditions.size() == 1);
    CHECK(back->preconditions[0].key == transaction.preconditions[0].key);
    CHECK(back->preconditions[0].at == seed);
    REQUIRE(back->mutations.size() == 2);
    CHECK(back->mutations[0].kind == &api::kind_of<Pod>());
    auto expected = pod->copy();
    api::meta_of(*expected).clear_resource_version();
    CHECK(api::same_meaning(*back->mutations[0].content, *expected));
    CHECK(back->mutations[1].kind == &api::kind_of<ConfigMap>());
    CHECK_FALSE(back->mutations[1].content);
    CHECK(same(back->cause, transaction.cause));

    actors::wire::CommitDone done;
    actors::write_commit_done(done, 3, persistence::committed{9, {pod, nullptr}});
    const auto result = actors::read_commit_done(done, {api::key_of(*pod), "/registry/pods/a/b"});
    REQUIRE(result);
    REQUIRE(result->has_value());
    CHECK((*result)->at == 9);
    CHECK(same((*result)->objects[0], pod));
    CHECK_FALSE((*result)->objects[1]);
    CHECK_FALSE(actors::read_commit_done(done, {api::key_of(*pod)}));
  });
}

TEST_CASE("events cross the link in parts that are one list again", "[link]") {
  std::vector<actors::watch_event> events;
  for (std::uint64_t i = 0; i < 300; ++i) {
    auto map = std::make_unique<ConfigMap>();
    map->mutable_metadata()->set_name("m" + std::to_string(i));
    map->mutable_metadata()->set_namespace_("default");
    (*map->mutable_data())["text"] = std::string(4'000, 'x');
    events.push_back(
        {.type = static_cast<actors::event_type>(i % 3),
         .at = i + 1,
         .object = std::make_shared<api::object>(api::kind_of<ConfigMap>(), std::move(map), i + 1),
         .cause = {.request = i, .trigger = i, .author = "a"}});
  }
  events.push_back({actors::event_type::bookmark, 400, nullptr});
  const auto parts =
      actors::write_events(5, {.id = 1, .up_to = 400, .synced = true, .events = events});
  REQUIRE(parts.size() > 2);
  std::vector<actors::watch_event> back;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    CHECK(parts[i].stream() == 5);
    CHECK(parts[i].up_to() == 400);
    CHECK(parts[i].unfinished() == (i + 1 < parts.size()));
    CHECK(parts[i].ByteSizeLong() < 2 * actors::link_defaults::batch_bytes);
    const auto read = actors::read_events(parts[i]);
    REQUIRE(read);
    back.insert(back.end(), read->begin(), read->end());
  }
  REQUIRE(back.size() == events.size());
  for (std::size_t i = 0; i < back.size(); ++i) {
    CHECK(back[i].type == events[i].type);
    CHECK(back[i].at == events[i].at);
    CHECK(same(back[i].object, events[i].object));
    CHECK(same(back[i].cause, events[i].cause));
  }
}

TEST_CASE("errors cross the link with code, key, revision and message", "[link]") {
  actors::wire::CommitDone done;
  actors::write_commit_done(
      done, 1,
      tl::make_unexpected(persistence::error{persistence::errc::conflict, "no", "/k", 12}));
  const auto result = actors::read_commit_done(done, {"/k"});
  REQUIRE(result);
  CHECK(result->error().code == persistence::errc::conflict);
  CHECK(result->error().key == "/k");
  CHECK(result->error().actual == 12);
  done.mutable_error()->set_code(1'000);
  CHECK(actors::read_commit_done(done, {"/k"})->error().code == persistence::errc::io);

  actors::wire::CommandDone command;
  actors::write_command_done(command, 1, api::fail(api::not_found(api::kind_of<Pod>(), "web")));
  const auto answer = actors::read_command_done(command);
  REQUIRE(answer);
  CHECK(answer->error().code == 404);
  CHECK_THAT(answer->error().message, Contains("\"web\" not found"));
}

TEST_CASE("an invalid item on the link is an error that names the problem", "[link]") {
  const auto pod = random_pod(1);
  actors::wire::Commit commit;
  persistence::transaction transaction;
  transaction.mutations.push_back({api::key_of(*pod), &pod->kind(), pod->copy()});
  actors::write_commit(commit, 1, transaction);
  SECTION("a key of no kind") {
    commit.mutable_mutations(0)->set_key("/registry/dragons/a/b");
    CHECK_THAT(actors::read_commit(commit).error(), Contains("no kind has the key"));
  }
  SECTION("a key that is long and forges lines of a log") {
    commit.mutable_mutations(0)->set_key("/registry/dragons/\n2026-11-22 error: " +
                                         std::string(1'000'000, 'x'));
    const auto error = actors::read_commit(commit).error();
    CHECK(error.size() <= actors::link_defaults::reason_limit_bytes);
    CHECK(error.find('\n') == error.npos);
  }
  SECTION("another object than the key says") {
    commit.mutable_mutations(0)->set_key("/registry/pods/kube-system/other");
    CHECK_THAT(actors::read_commit(commit).error(), Contains("would hold another object"));
  }
  SECTION("another kind than the key says") {
    commit.mutable_mutations(0)->set_key("/registry/configmaps/default/a");
    CHECK_THAT(actors::read_commit(commit).error(), Contains("was expected"));
  }
  SECTION("bytes that are no object") {
    commit.mutable_mutations(0)->set_stored("k8s");
    CHECK_FALSE(actors::read_commit(commit));
  }
  SECTION("an object that was committed under another key") {
    actors::wire::CommitDone done;
    actors::write_commit_done(done, 1, persistence::committed{9, {pod}});
    CHECK_THAT(actors::read_commit_done(done, {"/registry/pods/kube-system/other"}).error(),
               Contains("holds another object"));
  }
  SECTION("any bytes") {
    const auto good = commit.SerializeAsString();
    for_each_seed(300, [&](std::uint64_t seed) {
      std::mt19937_64 random{seed};
      auto bad = good;
      for (auto edits = 1 + random() % 6; edits > 0; --edits)
        bad[random() % bad.size()] = static_cast<char>(random());
      actors::wire::Commit read;
      if (read.ParseFromString(bad)) static_cast<void>(actors::read_commit(read));
    });
  }
}

TEST_CASE("a node answers a console with a status that HTTP can pass on, or not at all", "[link]") {
  actors::wire::ConsoleAnswer answer;
  answer.set_body("{}");
  for (const int good : {0, 200, 400, 404, 599}) {
    answer.set_status(good);
    CHECK(actors::read_console_answer(answer).status == good);
    CHECK(actors::read_console_answer(answer).body == "{}");
  }
  for (const int bad : {-5, 1, 100, 101, 204, 304, 399, 600, 99'999}) {
    answer.set_status(bad);
    const auto view = actors::read_console_answer(answer);
    CHECK(view.status == 0);
    CHECK_THAT(view.body, Contains(std::to_string(bad) + ", which is no valid status"));
  }
}

namespace {

// A session whose outbox the test empties.
class slow_session final : public runtime::link::session {
 public:
  bool send(std::string frame) override {
    waiting += frame.size();
    sent.push_back(std::move(frame));
    return true;
  }
  void close(std::string) override {}
  const runtime::link::peer& other() const override { return peer; }
  runtime::link::session_stats stats() const override { return {.outbox_bytes = waiting}; }

  runtime::link::peer peer;
  std::size_t waiting = 0;
  std::vector<std::string> sent;
};

actors::wire::FromNode::Item item_of(std::uint64_t number, std::size_t bytes) {
  actors::wire::FromNode::Item item;
  item.set_request(number);
  item.mutable_log_part()->set_text(std::string(bytes, 'x'));
  return item;
}

}  // namespace

TEST_CASE("items go together in frames, as far as the session has room", "[link]") {
  const auto session = std::make_shared<slow_session>();
  actors::frame_sender out{session};
  for (std::uint64_t i = 0; i < 100; ++i)
    REQUIRE(out.add(item_of(i, 10)));
  CHECK(out.flush());
  REQUIRE(session->sent.size() == 1);
  actors::wire::FromNode frame;
  REQUIRE(frame.ParseFromString(session->sent[0]));
  REQUIRE(frame.items_size() == 100);
  CHECK(frame.items(99).request() == 99);
  CHECK(frame.items(0).log_part().text().size() == 10);

  session->sent.clear();
  constexpr std::uint64_t many = 100;
  for (std::uint64_t i = 0; i < many; ++i)
    REQUIRE(out.add(item_of(i, 100'000)));
  CHECK_FALSE(out.flush());
  CHECK(out.backlog() > 0);
  CHECK(session->waiting < runtime::link::defaults::outbox_limit_bytes);
  for (int i = 0; i < 20 && out.backlog() > 0; ++i) {
    session->waiting = 0;
    out.flush();
  }
  CHECK(out.backlog() == 0);
  std::uint64_t next = 0;
  for (const auto& each : session->sent) {
    actors::wire::FromNode part;
    REQUIRE(part.ParseFromString(each));
    for (const auto& item : part.items())
      CHECK(item.request() == next++);
  }
  CHECK(next == many);
  CHECK_FALSE(out.add(item_of(0, runtime::link::defaults::frame_limit_bytes)));

  // The largest accepted item makes a frame that the session accepts.
  constexpr auto limit = runtime::link::defaults::frame_limit_bytes;
  std::size_t bytes = limit;
  while (!out.add(item_of(1, bytes)))
    --bytes;
  CHECK(bytes > limit - 100);
  session->sent.clear();
  session->waiting = 0;
  CHECK(out.flush());
  REQUIRE(session->sent.size() == 1);
  CHECK(session->sent[0].size() <= limit);
}

}  // namespace troupe::test
