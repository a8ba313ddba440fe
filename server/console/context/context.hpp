// The data that the console's views read, and their common functions.
#pragma once

#include <spdlog/common.h>

#include <future>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "actors/control_plane/control_plane.hpp"
#include "api/error.hpp"
#include "server/console/context/request_log.hpp"
#include "server/console/context/trace_slots.hpp"
#include "server/console/defaults.hpp"
#include "server/console/output/json_writer.hpp"
#include "server/http/query.hpp"

namespace troupe::server {

class other_nodes;
class sampler;

struct console_context {
  runtime::actor_system& system;
  actors::control_plane* plane;  // null on a joined node, which has no views of the cluster
  std::string node;              // the name of this machine
  request_log& requests;
  sampler& samples;
  std::shared_ptr<other_nodes> others;  // null if no node can join
  std::shared_ptr<trace_slots> traces = std::make_shared<trace_slots>(defaults::traces);
  std::chrono::system_clock::time_point started = std::chrono::system_clock::now();

  const runtime::directory& actors() const { return system.actors(); }
  persistence::store& store() const { return plane->store(); }
};

// The answer of a view: a JSON document, and the number of all rows if it has only a part.
struct view_answer {
  view_answer(const json_writer& from) : json{from.text()} {}  // NOLINT: a document is an answer
  view_answer(const json_writer& from, std::size_t all) : json{from.text()}, total{all} {}
  std::string json;
  std::optional<std::size_t> total;
};
using view_result = api::expected<view_answer>;
using view = view_result (*)(const console_context&, const query_string&);

// -- names ----------------------------------------------------------------------------------------

// "kind/name", or the name alone if it is unique. The error tells the user what to do.
api::expected<runtime::actor_info> find_actor(const console_context& context,
                                              std::string_view name);
std::string full_name(const runtime::actor_info& actor);
// "ended/ID" for an actor that has ended.
std::string name_of(const console_context& context, std::uint64_t id);
std::unordered_map<std::uint64_t, std::string> names_of(const console_context& context,
                                                        const std::vector<std::uint64_t>& ids);

// An object as typed by a user: "pods/default/web-1", "pod/web-1" (in default), "nodes/n1",
// "replicasets.apps/default/web".
struct object_name {
  api::kind_handle kind;
  std::string ns;
  std::string name;
  std::string key() const { return kind->key(ns, name); }
  std::string text() const;
};
api::expected<object_name> parse_object_name(std::string_view text);
// Shortens the key "/registry/pods/default/web-1" to "pods/default/web-1".
std::string readable_key(std::string_view key);

// '*' matches any characters, '?' one; a pattern without them matches anywhere in the text.
bool matches_glob(std::string_view text, std::string_view pattern) noexcept;

// -- numbers --------------------------------------------------------------------------------------

// The parameter as a number within bounds; the fallback if it is absent. The error names it.
api::expected<std::size_t> number_of(const query_string& from, std::string_view name,
                                     std::size_t fallback, std::size_t most);
std::string request_text(std::uint64_t id);  // as in the Audit-Id header; empty for 0
std::string time_text(std::chrono::system_clock::time_point at);
std::string level_text(spdlog::level::level_enum level);

// -- asking an actor ------------------------------------------------------------------------------

// Blocks the calling thread; nullopt if the actor did not answer in time.
template <class Reply, class T>
std::optional<Reply> ask(const console_context& context, const runtime::actor_ref& actor, T thing) {
  auto answered = std::make_shared<std::promise<std::optional<Reply>>>();
  auto answer = answered->get_future();
  context.system.request<Reply>(
      actor, std::move(thing), defaults::inspect_limit,
      [answered](tl::expected<const Reply*, runtime::request_error> reply) {
        answered->set_value(reply ? std::optional<Reply>{**reply} : std::nullopt);
      });
  return answer.get();
}

}  // namespace troupe::server
