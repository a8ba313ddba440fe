#include "server/console/trace_reader.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "server/console/views.hpp"

namespace troupe::server {

using runtime::trace_record;

api::expected<trace_filter> trace_filter_of(const console_context& in, const query_string& query) {
  trace_filter made;
  made.type = query.get_or("type", "");
  if (const auto name = query.get("name")) {
    const auto found = find_actor(in, *name);
    if (!found) return api::fail(found.error());
    made.actor = found->id;
  }
  if (const auto text = query.get("object")) {
    auto object = parse_object_name(*text);
    if (!object) return api::fail(object.error());
    made.object = std::move(*object);
  }
  return made;
}

trace_reader::trace_reader(console_context in, trace_filter filter, rendering form,
                           runtime::trace_cursor at)
    : in_{std::move(in)}, filter_{std::move(filter)}, form_{form}, cursor_{at} {}

traced trace_reader::read() {
  traced made;
  const auto lost = cursor_.lost;
  auto records = in_.company.recorder().read(cursor_);
  made.lost = cursor_.lost - lost;
  note_object();
  std::erase_if(records, [this](const trace_record& each) { return !wanted(each); });
  if (records.size() > defaults::trace_lines) {
    made.lost += records.size() - defaults::trace_lines;
    records.resize(defaults::trace_lines);
  }
  learn_names(records);
  for (const auto& each : records)
    append(made.text, each);
  made.lines = records.size();
  return made;
}

bool trace_reader::wanted(const trace_record& each) const {
  if (left_out_ != 0 && (each.receiver == left_out_ || each.sender == left_out_)) return false;
  if (!matches_glob(each.type, filter_.type)) return false;
  if (filter_.actor != 0) return each.receiver == filter_.actor || each.sender == filter_.actor;
  if (!filter_.object) return true;
  const auto has = [](const auto& list, auto what) {
    return std::find(list.begin(), list.end(), what) != list.end();
  };
  return has(actors_, each.receiver) || has(actors_, each.sender) ||
         (each.why.revision != 0 && has(revisions_, each.why.revision));
}

// Its newest revision, where there is a store, and the actors that bear its name, as they come and
// go.
void trace_reader::note_object() {
  if (!filter_.object) return;
  const auto found = in_.plane ? in_.truth().read().find(filter_.object->key()) : nullptr;
  if (found && (revisions_.empty() || revisions_.back() != found->revision()))
    revisions_.push_back(found->revision());
  if (revisions_.size() > defaults::trace_revisions) revisions_.pop_front();
  const auto& name = *filter_.object;
  const auto wanted_name = name.kind->namespaced() ? name.space + "/" + name.name : name.name;
  actors_.clear();
  for (const auto& each : in_.actors().called(wanted_name))
    actors_.push_back(each.id());
}

void trace_reader::learn_names(const std::vector<trace_record>& records) {
  if (names_.size() > defaults::trace_names) names_.clear();
  std::vector<std::uint64_t> unknown;
  for (const auto& each : records)
    for (const auto id : {each.receiver, each.sender})
      if (id != 0 && names_.count(id) == 0) unknown.push_back(id);
  for (auto& [id, name] : names_of(in_, unknown))
    names_.emplace(id, std::move(name));
}

std::string_view trace_reader::name_of(std::uint64_t id) const {
  return id == 0 ? "outside" : std::string_view{names_.at(id)};
}

void trace_reader::append(std::string& to, const trace_record& each) const {
  const auto& time = in_.company.time();
  const auto wall = time.wall_now() - (time.now() - each.at);
  const auto at =
      time_text(std::chrono::time_point_cast<std::chrono::system_clock::duration>(wall));
  if (form_ == rendering::text) {
    const auto seconds = [](runtime::duration d) {
      return human_time(std::chrono::duration<double>{d}.count());
    };
    to += fmt::format("{} {} -> {} {}", at.substr(11, 15), name_of(each.sender),
                      name_of(each.receiver), each.type);
    if (each.why.revision != 0) to += fmt::format(" revision {}", each.why.revision);
    if (each.why.request != 0) to += " request " + request_text(each.why.request);
    to += fmt::format(" waited {} took {}\n", seconds(each.waited), seconds(each.took));
    return;
  }
  json_writer out;
  out.begin_object()
      .member("time", at)
      .member("from", name_of(each.sender))
      .member("to", name_of(each.receiver))
      .member("type", each.type)
      .member("revision", each.why.revision)
      .member("request", request_text(each.why.request))
      .member("waitedSeconds", each.waited)
      .member("tookSeconds", each.took)
      .end_object();
  to += out.text() + '\n';
}

// -- pages ----------------------------------------------------------------------------------------

console_answer trace_page(const console_context& in, const query_string& query) {
  auto filter = trace_filter_of(in, query);
  if (!filter) return rendered(api::fail(filter.error()), query);
  const auto after = query.get("after");
  const auto from = after ? runtime::trace_cursor::parse(*after) : in.company.recorder().newest();
  if (!from) return console_failure(400, "after: where the last page ended, as it said itself");
  const auto form = parse_rendering(query.get_or("as", "json")).value_or(rendering::json);
  trace_reader reader{in, std::move(*filter), form, *from};
  const auto seen = after ? reader.read() : traced{};
  console_answer page;
  page.body = trace_page_text(reader.at().text(), seen);
  return page;
}

}  // namespace troupe::server
