#include "server/console/handlers/control.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>

#include "server/console/views/views.hpp"

namespace troupe::server {
namespace {

constexpr std::array<std::string_view, 6> verbs{"restart", "pause", "resume",
                                                "kill",    "send",  "log"};

view_result done(std::string_view verb, std::string_view target) {
  json_writer out;
  out.begin_object().member("done", verb).member("to", target).end_object();
  return view_answer{out};
}

view_result set_level(const console_context& context, const query_string& query) {
  const auto text = query.get_or("level", "");
  const auto level = spdlog::level::from_str(text);
  if (level == spdlog::level::off && text != "off")
    return api::fail(
        api::bad_request("level: one of trace, debug, info, warning, error, critical, off"));
  if (const auto actor = query.get("actor")) {
    const auto found = find_actor(context, *actor);
    if (!found) return api::fail(found.error());
    if (!context.system.log_level(context.actors().reference(found->id), level))
      return api::fail(api::bad_request(full_name(*found) + " has ended"));
    return done("log", full_name(*found));
  }
  const auto name = query.get_or("logger", "");
  std::size_t count = 0;
  spdlog::apply_all([&](const std::shared_ptr<spdlog::logger>& each) {
    if (!name.empty() && each->name() != name) return;
    each->set_level(level);
    ++count;
  });
  if (count == 0)
    return api::fail(api::bad_request(fmt::format("no logger is called \"{}\"", name)));
  return done("log", text);
}

// Messages that a user may send; each is a command to the writer.
api::expected<std::string> send_command(const console_context& context,
                                        const runtime::actor_ref& to, const query_string& query,
                                        const control_requester& by) {
  const auto object = parse_object_name(query.get_or("object", ""));
  if (!object) return api::fail(object.error());
  const auto message = query.get_or("message", "");
  const persistence::change_cause cause{by.request, 0, "console/" + by.user};
  std::optional<actors::command_done> answer;
  if (message == "evict") {
    answer = ask<actors::command_done>(
        context, to,
        actors::evict{.pod_key = object->key(), .reason = "", .message = "", .cause = cause});
  } else if (message == "remove") {
    answer = ask<actors::command_done>(context, to,
                                       actors::remove{.key = object->key(), .cause = cause});
  } else if (message == "bind") {
    answer = ask<actors::command_done>(context, to,
                                       actors::bind{.pod_key = object->key(),
                                                    .pod_uid = "",
                                                    .node = query.get_or("node", ""),
                                                    .cause = cause});
  } else {
    return api::fail(api::bad_request(
        fmt::format("message: one of evict, remove, bind; \"{}\" cannot be sent", message)));
  }
  if (!answer) return api::fail(api::service_unavailable("the actor did not answer in time"));
  if (!answer->result) return api::fail(answer->result.error());
  return object->text();
}

view_result order(const console_context& context, std::string_view verb, const query_string& query,
                  const control_requester& by) {
  const auto found = find_actor(context, query.get_or("name", ""));
  if (!found) return api::fail(found.error());
  const auto name = full_name(*found);
  const auto ref = context.actors().reference(found->id);
  auto& system = context.system;
  if (verb == "send") {
    if (context.plane == nullptr || !(ref == context.plane->core_actors().writer))
      return api::fail(api::bad_request("messages can be sent to writer/writer only"));
    const auto sent = send_command(context, ref, query, by);
    if (!sent) return api::fail(sent.error());
    return done(verb, *sent);
  }
  const auto reason = fmt::format("by hand, by {}", by.user);
  bool obeyed = false;
  if (verb == "restart") {
    obeyed = system.restart(ref, reason);
  } else if (verb == "kill") {
    obeyed = system.kill(ref, reason);
  } else if (verb == "resume") {
    obeyed = system.resume(ref);
  } else {
    const auto seconds = number_of(query, "seconds", 60, 600);
    if (!seconds) return api::fail(seconds.error());
    obeyed = system.pause(ref, std::chrono::seconds{*seconds});
  }
  if (!obeyed)
    return api::fail(api::bad_request(
        name + " has ended, or is not restarted after a crash and can only be killed"));
  return done(verb, name);
}

}  // namespace

bool is_control_verb(std::string_view verb) noexcept {
  return std::find(verbs.begin(), verbs.end(), verb) != verbs.end();
}

view_result control(const console_context& context, std::string_view verb,
                    const query_string& query, const control_requester& by) {
  auto result = verb == "log" ? set_level(context, query) : order(context, verb, query, by);
  std::string parameters;
  query.each([&](const std::string& name, const std::string& value) {
    if (name != "as") parameters += fmt::format(" {}={}", name, value);
  });
  spdlog::warn("console: {}{} by {} from {}: {}", verb, parameters, by.user, by.peer,
               result ? "done" : result.error().message);
  return result;
}

}  // namespace troupe::server
