#include "server/metrics/request_metrics.hpp"

#include <mutex>

namespace troupe::server {

using prometheus::MetricType;

namespace {

const char* verb_label(verb wanted) noexcept {
  switch (wanted) {
    case verb::get:
      return "GET";
    case verb::list:
      return "LIST";
    case verb::watch:
      return "WATCH";
    case verb::create:
      return "POST";
    case verb::update:
      return "PUT";
    case verb::patch:
      return "PATCH";
    case verb::remove:
      return "DELETE";
    case verb::remove_all:
      return "DELETECOLLECTION";
  }
  return "GET";
}

// Of a request that is refused before anybody asks whether it makes sense.
const char* method_label(std::string_view method) noexcept {
  static constexpr std::array<const char*, 4> writing{"POST", "PUT", "PATCH", "DELETE"};
  for (const auto* each : writing)
    if (method == each) return each;
  return "GET";
}

// Only what the schema knows becomes a label: a client may ask for any name.
std::string_view known_subresource(const route& where) {
  static constexpr std::array<std::string_view, 8> names{
      "status", "scale", "log", "binding", "eviction", "finalize", "ephemeralcontainers", "token"};
  for (const auto name : names)
    if (name == where.subresource) return name;
  return {};
}

}  // namespace

request_metrics::place request_metrics::place_of(const request_record& seen) {
  const auto& where = seen.where;
  const char* scope = where.kind == nullptr  ? ""
                      : !where.name.empty()  ? "resource"
                      : !where.space.empty() ? "namespace"
                                             : "cluster";
  return {where.kind, verb_label(seen.wanted), scope, known_subresource(where)};
}

labels request_metrics::labels_of(const place& where) {
  const bool known = where.kind != nullptr;
  return {{"component", "apiserver"},
          {"dry_run", ""},
          {"group", known ? where.kind->group() : ""},
          {"resource", known ? where.kind->plural() : ""},
          {"scope", where.scope},
          {"subresource", std::string{where.subresource}},
          {"verb", where.verb},
          {"version", known ? where.kind->version() : ""}};
}

template <class Map, class Key>
typename Map::mapped_type::element_type& request_metrics::find(Map& in, const Key& what) {
  {
    const std::shared_lock lock{mutex_};
    if (const auto found = in.find(what); found != in.end()) return *found->second;
  }
  const std::unique_lock lock{mutex_};
  auto& made = in[what];
  if (!made) made = std::make_unique<typename Map::mapped_type::element_type>();
  return *made;
}

void request_metrics::observe(const request_record& seen) {
  const auto where = place_of(seen);
  find(totals_, key{where, seen.status}).fetch_add(1, std::memory_order_relaxed);
  if (seen.wanted == verb::watch) return;  // it lasts as long as the client wants
  auto& times = find(times_, where);
  const auto seconds = std::chrono::duration<double>{seen.took}.count();
  std::size_t i = 0;
  while (i < bounds.size() && seconds > bounds[i])
    ++i;
  times.counts[i].fetch_add(1, std::memory_order_relaxed);
  times.sum_ns.fetch_add(static_cast<std::uint64_t>(seen.took.count()), std::memory_order_relaxed);
}

void request_metrics::refused(const refusal& what) {
  if (what.asked == nullptr) return;
  auto info = what.asked->info;
  if (info.verb.empty() && !what.asked->path.empty())
    info = parse_request_info(what.asked->method_text, what.asked->path, what.asked->query);
  const auto where = route_of(info);
  const auto wanted = verb_of(where, info);
  const place about{
      where.kind, wanted ? verb_label(*wanted) : method_label(what.asked->method_text), "", {}};
  find(totals_, key{about, what.code}).fetch_add(1, std::memory_order_relaxed);
  if (what.code == 401) unauthorized_.fetch_add(1, std::memory_order_relaxed);
  if (what.code == 429)
    rejected_[static_cast<std::size_t>(flow_schema_of(*what.asked))].fetch_add(
        1, std::memory_order_relaxed);
}

void request_metrics::add_to(families& out) const {
  const std::shared_lock lock{mutex_};
  family totals{out, "apiserver_request_total", "Requests that were answered.",
                MetricType::Counter};
  for (const auto& [what, number] : totals_) {
    auto with = labels_of(what.first);
    with.emplace_back("code", std::to_string(what.second));
    totals.counter(static_cast<double>(number->load()), with);
  }
  family{out, "authentication_attempts", "Requests whose credentials were missing or not good.",
         MetricType::Counter}
      .counter(static_cast<double>(unauthorized_.load()), {{"result", "failure"}});
  family rejected{out, "apiserver_flowcontrol_rejected_requests_total",
                  "Requests that found no place, or no room for their bodies.",
                  MetricType::Counter};
  for (std::size_t i = 0; i < rejected_.size(); ++i) {
    const auto schema = static_cast<flow_schema>(i);
    rejected.counter(static_cast<double>(rejected_[i].load()),
                     {{"flow_schema", std::string{to_string(schema)}},
                      {"priority_level", std::string{priority_level(schema)}},
                      {"reason", "concurrency-limit"}});
  }
  family times{out, "apiserver_request_duration_seconds", "Time until a request was answered.",
               MetricType::Histogram};
  for (const auto& [where, from] : times_) {
    std::array<std::uint64_t, bounds.size() + 1> counts{};
    for (std::size_t i = 0; i < counts.size(); ++i)
      counts[i] = from->counts[i].load();
    times.histogram(bounds.data(), counts.data(), bounds.size(),
                    static_cast<double>(from->sum_ns.load()) / 1e9, labels_of(where));
  }
}

}  // namespace troupe::server
