// All changes of one object, and of earlier objects with its key, with their authors and
// differences.
#include <fmt/format.h>

#include "server/console/views/change_walk.hpp"
#include "server/console/views/differences.hpp"
#include "server/console/views/views.hpp"

namespace troupe::server {
namespace {

using persistence::change;
using persistence::change_type;

const char* type_text(change_type type) {
  switch (type) {
    case change_type::created:
      return "created";
    case change_type::updated:
      return "updated";
    case change_type::removed:
      return "removed";
  }
  return "";
}

// `uid`: that of the object which has the key now or had it last.
void append(json_writer& out, const change& change, const std::string& uid) {
  out.begin_object()
      .member("revision", change.at)
      .member("time", time_text(change.time))
      .member("type", std::string_view{type_text(change.type)})
      .member("earlier", change.object->meta().uid() != uid)
      .member("by", change.cause.author.empty() ? "?" : std::string_view{change.cause.author})
      .member("request", request_text(change.cause.request))
      .member("after", change.cause.trigger)
      .begin_array("changes");
  // Only updates get a list of differences; for others the type says enough.
  if (change.type == change_type::updated) {
    for (const auto& each :
         differences(change.previous.get(), change.object.get(), defaults::differences_limit)) {
      out.begin_object().member("path", each.path);
      if (!each.from.empty()) out.member("from", each.from);
      if (!each.to.empty()) out.member("to", each.to);
      out.end_object();
    }
  }
  out.end_array().end_object();
}

// A change of which only the revision is known.
void append_unlogged(json_writer& out, const api::object& present) {
  out.begin_object()
      .member("revision", present.revision())
      .member("time", "")
      .member("type", "forgotten")
      .member("earlier", false)
      .member("by", "?")
      .member("request", "")
      .member("after", 0)
      .begin_array("changes")
      .end_array()
      .end_object();
}

}  // namespace

view_result show_history(const console_context& context, const query_string& query) {
  const auto name = parse_object_name(query.get_or("object", ""));
  if (!name) return api::fail(name.error());
  const auto limit = number_of(query, "top", defaults::history_shown, defaults::history_limit);
  if (!limit) return api::fail(limit.error());
  const auto walk = changes_of(context.store(), name->key(), *limit, lives::all);
  if (!walk) return api::fail(api::service_unavailable(walk.error().message));
  if (walk->changes.empty() && !walk->unlogged && *limit > 0) {
    auto missing = api::not_found(*name->kind, name->name);
    if (walk->searched_down_to > 0)
      missing.message +=
          fmt::format("; the change log was searched down to revision {} without a trace of it",
                      walk->searched_down_to);
    return api::fail(std::move(missing));
  }
  json_writer out;
  out.begin_array();
  if (walk->unlogged) append_unlogged(out, *walk->unlogged);
  for (auto each = walk->changes.rbegin(); each != walk->changes.rend(); ++each)
    append(out, *each, walk->changes.front().object->meta().uid());
  out.end_array();
  return view_answer{out, walk->changes.size() + (walk->unlogged ? 1 : 0)};
}

}  // namespace troupe::server
