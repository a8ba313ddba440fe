#include "server/console/trace/trace_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "api/values/integer.hpp"
#include "api/values/text_parts.hpp"
#include "server/console/views/views.hpp"

namespace troupe::server {

using runtime::trace_record;

namespace {

// The object's name as in actors' names; for a pod worker it is the first part.
std::string name_of_object(const object_name& name) {
  return name.kind->namespaced() ? name.ns + "/" + name.name : name.name;
}

void note(std::deque<std::uint64_t>& into, std::uint64_t item, std::size_t limit) {
  if (std::find(into.begin(), into.end(), item) != into.end()) return;
  into.push_back(item);
  if (into.size() > limit) into.pop_front();
}

// Returns the number of dropped records; frees unused memory.
std::size_t keep_newest(std::vector<trace_record>& records, std::size_t limit) {
  const auto extra = records.size() - std::min(records.size(), limit);
  records.erase(records.begin(), records.begin() + static_cast<std::ptrdiff_t>(extra));
  records.shrink_to_fit();
  return extra;
}

// Skips elements that are not numbers.
template <class F>
void each_number(std::string_view list, char separator, F take) {
  while (!list.empty()) {
    const auto part = api::take_part(list, separator);
    if (const auto number = api::parse_integer<std::uint64_t>(part)) take(*number);
  }
}

}  // namespace

api::expected<trace_filter> trace_filter_of(const console_context& context,
                                            const query_string& query) {
  trace_filter made;
  made.type = query.get_or("type", "");
  if (const auto name = query.get("name")) {
    const auto found = find_actor(context, *name);
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

trace_reader::trace_reader(console_context context, trace_filter filter, rendering form,
                           runtime::trace_cursor at)
    : context_{std::move(context)}, filter_{std::move(filter)}, form_{form}, cursor_{at} {}

traced trace_reader::read(bool with_text) {
  traced made;
  const auto lost = cursor_.lost;
  auto records = context_.system.recorder().read(cursor_);
  made.lost = cursor_.lost - lost;
  if (filter_.object) {
    for (const auto& each : context_.actors().called(name_of_object(*filter_.object)))
      note_actor(each.id());
    remember_names(records);
    if (waits_) {
      made.lost += keep_newest(records, defaults::trace_records);
      std::swap(records, waiting_);
    }
  }
  std::erase_if(records, [this](const trace_record& each) { return !wanted(each); });
  if (records.size() > defaults::trace_lines) {
    made.lost += records.size() - defaults::trace_lines;
    records.resize(defaults::trace_lines);
  }
  if (!with_text) {
    made.lost += records.size();
    return made;
  }
  remember_names(records);
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
  const auto has = [](const auto& list, auto item) {
    return std::find(list.begin(), list.end(), item) != list.end();
  };
  return has(actors_, each.receiver) || has(actors_, each.sender) ||
         (each.cause.revision != 0 && has(revisions_, each.cause.revision));
}

bool trace_reader::has_object_name(std::string_view actor) const {
  const auto name = name_of_object(*filter_.object);
  return actor.starts_with(name) && (actor.size() == name.size() || actor[name.size()] == '/');
}

void trace_reader::find_actors() {
  if (!filter_.object) return;
  context_.actors().each([this](const runtime::actor_info& each) {
    if (has_object_name(each.name)) note_actor(each.id);
  });
}

void trace_reader::note_actor(std::uint64_t id) {
  note(actors_, id, defaults::trace_actors);
}

void trace_reader::note_revision(persistence::revision at) {
  note(revisions_, at, defaults::trace_revisions);
}

std::string trace_reader::position() const {
  return fmt::format("{}{}{}", cursor_.text(), actors_.empty() ? "" : "-", fmt::join(actors_, "-"));
}

bool trace_reader::resume_from(std::string_view position) {
  const auto end = std::min(position.find('-'), position.size());
  const auto cursor = runtime::trace_cursor::parse(position.substr(0, end));
  if (!cursor) return false;
  cursor_ = *cursor;
  each_number(position.substr(end), '-', [this](std::uint64_t id) { note_actor(id); });
  return true;
}

void trace_reader::remember_names(const std::vector<trace_record>& records) {
  if (names_.size() > defaults::trace_names) std::exchange(names_, {});
  std::vector<std::uint64_t> unknown;
  for (const auto& each : records)
    for (const auto id : {each.receiver, each.sender})
      if (id != 0 && names_.count(id) == 0) unknown.push_back(id);
  for (auto& [id, name] : names_of(context_, unknown)) {
    if (filter_.object && has_object_name(std::string_view{name}.substr(name.find('/') + 1)))
      note_actor(id);
    names_.emplace(id, std::move(name));
  }
}

std::string_view trace_reader::name_of(std::uint64_t id) const {
  return id == 0 ? "outside" : std::string_view{names_.at(id)};
}

void trace_reader::append(std::string& to, const trace_record& each) const {
  const auto& time = context_.system.time();
  const auto wall = time.wall_now() - (time.now() - each.at);
  const auto at =
      time_text(std::chrono::time_point_cast<std::chrono::system_clock::duration>(wall));
  if (form_ == rendering::text) {
    const auto seconds = [](runtime::duration d) {
      return human_time(std::chrono::duration<double>{d}.count());
    };
    to += fmt::format("{} {} -> {} {}", at.substr(11, 15), name_of(each.sender),
                      name_of(each.receiver), each.type);
    if (each.cause.revision != 0) to += fmt::format(" revision {}", each.cause.revision);
    if (each.cause.request != 0) to += " request " + request_text(each.cause.request);
    to += fmt::format(" waited {} took {}\n", seconds(each.waited), seconds(each.took));
    return;
  }
  json_writer out;
  out.begin_object()
      .member("time", at)
      .member("from", name_of(each.sender))
      .member("to", name_of(each.receiver))
      .member("type", each.type)
      .member("revision", each.cause.revision)
      .member("request", request_text(each.cause.request))
      .member("waitedSeconds", each.waited)
      .member("tookSeconds", each.took)
      .end_object();
  to += out.text() + '\n';
}

// -- pages ----------------------------------------------------------------------------------------

console_answer trace_page(const console_context& context, const query_string& query) {
  auto filter = trace_filter_of(context, query);
  if (!filter) return rendered(api::fail(filter.error()), query);
  const auto after = query.get("after");
  const auto form = parse_rendering(query.get_or("as", "json")).value_or(rendering::json);
  trace_reader reader{context, std::move(*filter), form, context.system.recorder().newest()};
  if (!after) {
    reader.find_actors();
  } else if (!reader.resume_from(*after)) {
    return console_failure(400, "after: must be the position in the first line of the last page");
  }
  each_number(query.get_or("revisions", ""), ',',
              [&](persistence::revision at) { reader.note_revision(at); });
  const auto events = after ? reader.read() : traced{};
  console_answer page;
  page.body = trace_page_text(reader.position(), events);
  return page;
}

}  // namespace troupe::server
