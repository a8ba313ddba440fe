// Contents of link frames: a node's messages, read and checked as the control plane does, and the
// control plane's messages, read as a node does. Also the page of a trace that a node answers.
#include <algorithm>

#include "actors/access/node_identity.hpp"
#include "actors/link/defaults.hpp"
#include "actors/link/frames.hpp"
#include "actors/link/node_permissions.hpp"
#include "actors/link/stream_frames.hpp"
#include "actors/link/usage_frames.hpp"
#include "api/equality.hpp"
#include "api/object/object_key.hpp"
#include "api/schema/coordination_v1.pb.h"
#include "api/schema/core_config.pb.h"
#include "api/schema/core_node.pb.h"
#include "api/schema/core_pod.pb.h"
#include "api/scheme.hpp"
#include "api/values/utf8.hpp"
#include "persistence/tree/tree.hpp"
#include "runtime/observation.hpp"
#include "server/console/trace/trace_page.hpp"
#include "tools/fuzz/entries.hpp"

namespace troupe::fuzz {
namespace {

using namespace actors;
using api::coordination::v1::Lease;
using api::core::v1::ConfigMap;
using api::core::v1::Node;
using api::core::v1::Pod;
using api::core::v1::Secret;

constexpr std::uint64_t now_at = 40;

void check_line(const std::string& reason) {
  require(!reason.empty(), "a refusal says why");
  require(reason.size() < 1000, "a refusal is short, however long what it refuses");
  require(std::none_of(reason.begin(), reason.end(), [](unsigned char c) { return c < ' '; }),
          "a refusal is one line");
}

// -- the state ------------------------------------------------------------------------------------

template <class T>
api::object_ptr object_of(const char* ns, const char* name, std::uint64_t at,
                          void (*edit)(T&) = nullptr) {
  auto made = std::make_unique<T>();
  made->mutable_metadata()->set_namespace_(ns);
  made->mutable_metadata()->set_name(name);
  made->mutable_metadata()->set_uid(std::string("uid-") + name);
  if (edit != nullptr) edit(*made);
  return std::make_shared<api::object>(api::kind_of<T>(), std::move(made), at);
}

// Objects of node "n0": itself, its Lease, a pod, a terminating pod; and objects of others.
const std::vector<api::object_ptr>& objects() {
  static const std::vector<api::object_ptr> all{
      object_of<Node>(
          "", "n0", 10,
          [](Node& n) {
            (*n.mutable_metadata()->mutable_annotations())[std::string{node_key_annotation}] =
                "sha256:k";
          }),
      object_of<Lease>("kube-node-lease", "n0", 11),
      object_of<Pod>("default", "web", 12,
                     [](Pod& p) {
                       p.mutable_spec()->set_node_name("n0");
                       p.mutable_spec()->add_containers()->set_name("c");
                       p.mutable_status()->set_phase("Running");
                     }),
      object_of<Pod>("default", "leaving", 13,
                     [](Pod& p) {
                       p.mutable_spec()->set_node_name("n0");
                       p.mutable_metadata()->mutable_deletion_timestamp()->set_seconds(1);
                     }),
      object_of<Pod>("default", "other", 14, [](Pod& p) { p.mutable_spec()->set_node_name("n1"); }),
      object_of<ConfigMap>("default", "used", 15)};
  return all;
}

bool is_own(const std::string& key) {
  for (std::size_t i = 0; i < 4; ++i)
    if (api::key_of(*objects()[i]) == key) return true;
  return false;
}

const persistence::snapshot& state() {
  static const persistence::snapshot all = [] {
    persistence::tree_edit edit{*persistence::tree_root::empty(0)};
    for (const auto& each : objects())
      edit.put(api::key_of(*each), each, each->revision());
    return persistence::snapshot{edit.freeze(now_at), now_at};
  }();
  return all;
}

// -- from the node --------------------------------------------------------------------------------

// Transmitted objects have no resourceVersion.
std::unique_ptr<api::body> as_it_travels(const api::body& content) {
  std::unique_ptr<api::body> copy{content.New()};
  copy->CopyFrom(content);
  api::meta_of(*copy).clear_resource_version();
  return copy;
}

void check_written_again(const persistence::transaction& transaction) {
  wire::Commit out;
  write_commit(out, 1, transaction);
  const auto again = read_commit(out);
  require(again.has_value(), "what a node writes can be written on");
  require(again->preconditions.size() == transaction.preconditions.size() &&
              again->mutations.size() == transaction.mutations.size(),
          "a transaction is whole");
  for (std::size_t i = 0; i < transaction.preconditions.size(); ++i)
    require(again->preconditions[i].key == transaction.preconditions[i].key &&
                again->preconditions[i].at == transaction.preconditions[i].at,
            "a precondition stays");
  for (std::size_t i = 0; i < transaction.mutations.size(); ++i) {
    const auto &before = transaction.mutations[i], &after = again->mutations[i];
    require(after.key == before.key && after.kind == before.kind, "a mutation stays");
    require(!after.content == !before.content, "an end stays an end");
    if (before.content)
      require(api::same_meaning(*after.content, *as_it_travels(*before.content)),
              "what is written stays");
  }
}

void take_commit(const wire::Commit& m) {
  const auto transaction = read_commit(m);
  if (!transaction) return check_line(transaction.error());
  check_written_again(*transaction);
  const auto allowed = may_commit(state(), "n0", *transaction);
  if (!allowed) return require(!allowed.error().message.empty(), "a refusal says why");
  const auto& written = transaction->mutations.front();
  require(is_own(written.key), "a node writes what is its own");
  if (!written.content)
    return require(written.key == api::key_of(*objects()[3]), "a node ends what is to end");
  const auto stored = api::object::from_storage(
      *written.kind, api::to_storage(*written.kind, *written.content), now_at + 1);
  require(stored.has_value() && api::key_of(**stored) == written.key,
          "what a node writes can be read from the store");
}

void take(const wire::FromNode::Item& item) {
  using item_kind = wire::FromNode::Item;
  switch (item.content_case()) {
    case item_kind::kCommit:
      return take_commit(item.commit());
    case item_kind::kEvict:
      if (const auto read = read_evict(item.evict()); may_evict(state(), "n0", read))
        require(is_own(read.pod_key), "a node evicts its own pods");
      return;
    case item_kind::kRemove:
      if (const auto read = read_remove(item.remove()); may_remove(state(), "n0", read))
        require(read.key == api::key_of(*objects()[3]), "a node removes what is to end");
      return;
    case item_kind::kRecordEvent: {
      const auto& m = item.record_event();
      if (may_record(state(), "n0", m.key(), m.uid()))
        require(is_own(m.key()), "a node tells of its own");
      return;
    }
    case item_kind::kSubscribe: {
      const auto& m = item.subscribe();
      const auto used = api::key_of(*objects()[5]);
      const auto allowed = may_follow("n0", m.prefix(), m.on_node(),
                                      [&](const std::string& key) { return key == used; });
      // Every node may read services, nodes and network policies.
      const bool guarded = m.prefix().starts_with(api::kind_of<Secret>().prefix()) ||
                           m.prefix().starts_with(api::kind_of<ConfigMap>().prefix()) ||
                           m.prefix().starts_with(api::kind_of<Lease>().prefix());
      require(!allowed || !guarded || is_own(m.prefix()) || m.prefix() == used,
              "a node follows no lease of others, and no secret that its pods do not use");
      require(!allowed || m.on_node().empty() || m.on_node() == "n0",
              "a node follows the pods of no other one");
      return;
    }
    case item_kind::kConsoleAnswer: {
      const auto status = read_console_answer(item.console_answer()).status;
      require(status == 0 || status == 200 || (status >= 400 && status < 600),
              "a status is one of HTTP");
      return;
    }
    case item_kind::kStreamOpened: {
      const auto error = read_refusal(item.stream_opened().refusal());
      require(error.code <= runtime_error::kind::unsupported, "a refusal is of a known kind");
      require(
          api::is_utf8(error.message) && api::is_utf8(error.reason) && error.message.size() < 2'000,
          "a refusal is a short text");
      return;
    }
    case item_kind::kUsageAnswer: {
      const auto usage = read_usage_answer(item.usage_answer());
      if (!usage.problem.empty()) check_line(usage.problem);
      require(usage.age >= usage.age.zero() && usage.age <= link_defaults::usage_longest_time,
              "a figure is of a time that can be");
      if (usage.machine)
        require(usage.machine->cpu_nano <= link_defaults::usage_most_cpu_nano &&
                    usage.machine->memory_bytes <= link_defaults::usage_most_memory_bytes &&
                    usage.machine->window >= usage.machine->window.zero(),
                "a machine uses what a machine can have");
      return;
    }
    default:
      return;  // accepted unchanged
  }
}

void read_from_node(std::string_view bytes) {
  wire::FromNode frame;
  if (!frame.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return;
  for (const auto& item : frame.items())
    take(item);
}

std::string one_frame(const std::vector<wire::FromNode::Item>& items) {
  wire::FromNode frame;
  for (const auto& each : items)
    *frame.add_items() = each;
  return frame.SerializeAsString();
}

template <class F>
wire::FromNode::Item item_with(F fill) {
  wire::FromNode::Item item;
  item.set_request(7);
  item.set_revision(8);
  fill(item);
  return item;
}

wire::FromNode::Item commit_of(const api::object_ptr& was, std::unique_ptr<api::body> content) {
  persistence::transaction transaction;
  const auto key = api::key_of(*was);
  transaction.preconditions.push_back({key, was->revision()});
  transaction.mutations.push_back({key, &was->kind(), std::move(content)});
  transaction.cause = {.request = 1, .trigger = 2, .author = "kubelet/n0"};
  return item_with([&](auto& item) { write_commit(*item.mutable_commit(), 3, transaction); });
}

std::vector<std::string> from_node() {
  auto node = objects()[0]->copy_as<Node>();
  (*node->mutable_status()->mutable_capacity())["cpu"].set_string("2");
  (*node->mutable_metadata()->mutable_labels())["kubernetes.io/os"] = "linux";
  auto lease = objects()[1]->copy_as<Lease>();
  lease->mutable_spec()->set_holder_identity("n0");
  auto pod = objects()[2]->copy_as<Pod>();
  pod->mutable_status()->set_message("no\xff");
  const auto commands =
      one_frame({item_with([](auto& item) {
                   write_evict(*item.mutable_evict(), 4,
                               {.pod_key = api::key_of(*objects()[2]), .pod_uid = "uid-web"});
                 }),
                 item_with([](auto& item) {
                   write_remove(*item.mutable_remove(), 5,
                                {.key = api::key_of(*objects()[3]), .uid = "uid-leaving"});
                 }),
                 item_with([](auto& item) {
                   auto& m = *item.mutable_record_event();
                   m.set_key(api::key_of(*objects()[2]));
                   m.set_uid("uid-web");
                   m.set_reason("Unhealthy");
                 })});
  const auto reads =
      one_frame({item_with([](auto& item) {
                   item.mutable_subscribe()->set_prefix(api::kind_of<Pod>().prefix());
                   item.mutable_subscribe()->set_on_node("n0");
                   item.mutable_subscribe()->set_credit(1'000);
                 }),
                 item_with([](auto& item) {
                   item.mutable_subscribe()->set_prefix(api::key_of(*objects()[5]));
                 }),
                 item_with([](auto& item) { item.mutable_log_part()->set_text("line\n"); }),
                 item_with([](auto& item) { item.mutable_console_answer()->set_body("{}"); }),
                 item_with([](auto& item) {
                   write_usage_answer(*item.mutable_usage_answer(), 6,
                                      {.problem = "none",
                                       .age = std::chrono::milliseconds{5},
                                       .machine = resource_usage{1, 2, std::chrono::seconds{3}},
                                       .containers = {{"uid-web", "c", {}}}});
                 })});
  const auto streams =
      one_frame({item_with([](auto& item) { item.mutable_stream_opened()->set_credit(9); }),
                 item_with([](auto& item) {
                   write_refusal(*item.mutable_stream_opened()->mutable_refusal(),
                                 {runtime_error::kind::not_found, "no container", "Gone"});
                 }),
                 item_with([](auto& item) { item.mutable_stream_output()->set_text("line\n"); }),
                 item_with([](auto& item) { item.mutable_input_taken()->set_bytes(4); }),
                 item_with([](auto& item) { item.mutable_stream_ended()->set_code(-1); })});
  return {one_frame({commit_of(objects()[0], std::move(node))}),
          one_frame({commit_of(objects()[1], std::move(lease)), commit_of(objects()[3], nullptr)}),
          one_frame({commit_of(objects()[2], std::move(pod))}),
          commands,
          reads,
          streams};
}

// -- from the control plane -----------------------------------------------------------------------

bool same(const api::object_ptr& a, const api::object_ptr& b) {
  if (!a || !b) return a == b;
  return a->revision() == b->revision() && api::key_of(*a) == api::key_of(*b) &&
         api::same_meaning(a->content(), b->content());
}

void take_events(const wire::WatchEvents& m) {
  const auto read = read_events(m);
  if (!read) return check_line(read.error());
  std::vector<watch_event> again;
  const auto parts = write_events(
      m.stream(), {.id = 1, .up_to = m.up_to(), .synced = m.synced(), .events = *read});
  for (const auto& part : parts) {
    const auto some = read_events(part);
    require(some.has_value(), "events can be passed on");
    again.insert(again.end(), some->begin(), some->end());
  }
  require(again.size() == read->size(), "no event is lost on its way");
  for (std::size_t i = 0; i < again.size(); ++i)
    require(again[i].type == (*read)[i].type && again[i].at == (*read)[i].at &&
                same(again[i].object, (*read)[i].object),
            "an event stays");
}

// The keys that the node had asked to write.
std::vector<std::string> keys_asked() {
  return {api::key_of(*objects()[2]), api::key_of(*objects()[1])};
}

void take_commit_done(const wire::CommitDone& m) {
  const auto keys = keys_asked();
  const auto read = read_commit_done(m, keys);
  if (!read) return check_line(read.error());
  if (!*read) return;
  require((*read)->objects.size() == keys.size(), "there is an answer for each key");
  for (std::size_t i = 0; i < keys.size(); ++i)
    if (const auto& object = (*read)->objects[i])
      require(api::key_of(*object) == keys[i], "the answer is about what was asked");
}

void take_open_stream(const wire::OpenStream& m) {
  const auto read = read_open_stream(m);
  if (!read) return check_line(read.error());
  const bool is_port = read->to == stream_target::kind::port;
  require(is_port == (read->port != 0) && read->port <= 65'535, "a port is one that can be");
  wire::OpenStream out;
  write_open_stream(out, 1, *read);
  const auto again = read_open_stream(out);
  require(again && again->to == read->to && again->container == read->container &&
              again->exec.command == read->exec.command && again->exec.tty == read->exec.tty &&
              again->exec.input == read->exec.input && again->pod_uid == read->pod_uid &&
              again->port == read->port,
          "what is to be opened stays");
}

void read_to_node(std::string_view bytes) {
  wire::ToNode frame;
  if (!frame.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return;
  for (const auto& item : frame.items()) {
    if (item.has_watch_events()) take_events(item.watch_events());
    if (item.has_watch_ended()) static_cast<void>(read_store_error(item.watch_ended().reason()));
    if (item.has_commit_done()) take_commit_done(item.commit_done());
    if (item.has_open_stream()) take_open_stream(item.open_stream());
    if (!item.has_command_done()) continue;
    const auto read = read_command_done(item.command_done());
    if (!read) check_line(read.error());
    if (read && *read && **read)
      require(api::key_of(***read) == item.command_done().key(), "an answer has its key");
  }
}

std::vector<std::string> to_node() {
  wire::ToNode lists, answers;
  const std::vector<watch_event> events{
      {.type = event_type::added, .at = 12, .object = objects()[2]},
      {.type = event_type::modified, .at = 15, .object = objects()[5]},
      {.type = event_type::deleted, .at = 14, .object = objects()[4]},
      {.type = event_type::bookmark, .at = 16, .object = nullptr}};
  for (auto& part : write_events(3, {.id = 1, .up_to = 16, .synced = true, .events = events}))
    *lists.add_items()->mutable_watch_events() = std::move(part);
  auto& ended = *lists.add_items()->mutable_watch_ended();
  ended.set_stream(4);
  write_error(*ended.mutable_reason(),
              persistence::error{persistence::errc::compacted, "gone", "/k", 12});
  write_commit_done(*answers.add_items()->mutable_commit_done(), 3,
                    persistence::committed{17, {objects()[2], nullptr}});
  write_command_done(*answers.add_items()->mutable_command_done(), 4, objects()[2]);
  write_command_done(*answers.add_items()->mutable_command_done(), 5,
                     api::fail(api::not_found(api::kind_of<Pod>(), "web")));
  answers.add_items()->mutable_open_log()->set_container("c");
  wire::ToNode streams;
  write_open_stream(*streams.add_items()->mutable_open_stream(), 6,
                    {.to = stream_target::kind::exec,
                     .container = "process://u/c/0",
                     .exec = {{"sh", "-c", "ls"}, true, true}});
  write_open_stream(*streams.add_items()->mutable_open_stream(), 7,
                    {.to = stream_target::kind::port, .pod_uid = "u", .port = 80});
  streams.add_items()->mutable_stream_input()->set_text("exit\n");
  streams.add_items()->mutable_end_input()->set_ask(6);
  streams.add_items()->mutable_resize_stream()->set_rows(24);
  streams.add_items()->mutable_more_output()->set_credit(9);
  streams.add_items()->mutable_close_stream()->set_ask(6);
  return {lists.SerializeAsString(), answers.SerializeAsString(), streams.SerializeAsString()};
}

// -- the page of a trace --------------------------------------------------------------------------

std::vector<std::string> trace_pages() {
  return {server::trace_page_text("1.2.3.4.5.6.7.8", {"{}\n", 1, 2}),
          server::trace_page_text("18446744073709551615.0.0.0.0.0.0.0", {}),
          "0.0.0.0.0.0.0.0 1 x\n"};
}

void read_trace_page(std::string_view bytes) {
  const auto read = server::parse_trace_page(bytes);
  if (!read) return;
  const auto again = server::parse_trace_page(server::trace_page_text(read->after, read->events));
  require(again.has_value() && again->after == read->after &&
              again->events.lines == read->events.lines &&
              again->events.lost == read->events.lost && again->events.text == read->events.text,
          "a page survives its text");
  const auto at = runtime::trace_cursor::parse(read->after);
  if (!at) return;
  const auto same_place = runtime::trace_cursor::parse(at->text());
  require(same_place.has_value() && same_place->text() == at->text(), "a place survives its text");
}

}  // namespace

void add_link_frames(std::vector<entry>& to) {
  to.push_back({"link_from_node", &from_node, &read_from_node});
  to.push_back({"link_to_node", &to_node, &read_to_node});
  to.push_back({"trace_page", &trace_pages, &read_trace_page});
}

}  // namespace troupe::fuzz
