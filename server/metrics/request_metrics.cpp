#include "server/metrics/request_metrics.hpp"

#include <mutex>
#include <tuple>

namespace troupe::server {

using prometheus::MetricType;

namespace {

const char* verb_label(verb verb) noexcept {
  switch (verb) {
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

// For a request that is refused before its route is known.
const char* method_label(std::string_view method) noexcept {
  static constexpr std::array<const char*, 4> writing{"POST", "PUT", "PATCH", "DELETE"};
  for (const auto* each : writing)
    if (method == each) return each;
  return "GET";
}

// Only subresources of the schema become labels: clients may request any name.
std::string_view known_subresource(const route& route) {
  static constexpr std::array<std::string_view, 14> names{
      "status", "scale", "log",      "binding", "eviction", "finalize",    "ephemeralcontainers",
      "resize", "token", "approval", "exec",    "attach",   "portforward", "proxy"};
  for (const auto name : names)
    if (name == route.subresource) return name;
  return {};
}

}  // namespace

request_metrics::place request_metrics::place_of(const request_record& record) {
  const auto& target = record.route;
  const char* scope = target.kind == nullptr ? ""
                      : !target.name.empty() ? "resource"
                      : !target.ns.empty()   ? "namespace"
                                             : "cluster";
  return {target.kind, verb_label(record.verb), scope, known_subresource(target)};
}

std::strong_ordering request_metrics::place::operator<=>(const place& other) const {
  const auto rest = [](const place& p) {
    return std::tuple(std::string_view{p.verb}, std::string_view{p.scope}, p.subresource);
  };
  const bool named = kind && kind->custom(), other_named = other.kind && other.kind->custom();
  if (named != other_named) return named <=> other_named;
  if (kind != other.kind) {
    const auto order = named ? std::tie(kind->qualified_plural(), kind->version()) <=>
                                   std::tie(other.kind->qualified_plural(), other.kind->version())
                             : std::compare_three_way{}(kind.get(), other.kind.get());
    if (order != 0) return order;
  }
  return rest(*this) <=> rest(other);
}

labels request_metrics::labels_of(const place& target) {
  const bool known = target.kind != nullptr;
  return {{"component", "apiserver"},
          {"dry_run", ""},
          {"group", known ? target.kind->group() : ""},
          {"resource", known ? target.kind->plural() : ""},
          {"scope", target.scope},
          {"subresource", std::string{target.subresource}},
          {"verb", target.verb},
          {"version", known ? target.kind->version() : ""}};
}

template <class Map, class Key>
typename Map::mapped_type::element_type& request_metrics::find(Map& map, const Key& key) {
  {
    const std::shared_lock lock{mutex_};
    if (const auto found = map.find(key); found != map.end()) return *found->second;
  }
  const std::unique_lock lock{mutex_};
  auto& made = map[key];
  if (!made) made = std::make_unique<typename Map::mapped_type::element_type>();
  return *made;
}

void request_metrics::observe(const request_record& record) {
  const auto target = place_of(record);
  find(totals_, key{target, record.status}).fetch_add(1, std::memory_order_relaxed);
  if (record.verb == verb::watch) return;  // its duration depends on the client
  auto& times = find(times_, target);
  const auto seconds = std::chrono::duration<double>{record.took}.count();
  std::size_t i = 0;
  while (i < bounds.size() && seconds > bounds[i])
    ++i;
  times.counts[i].fetch_add(1, std::memory_order_relaxed);
  times.sum_ns.fetch_add(static_cast<std::uint64_t>(record.took.count()),
                         std::memory_order_relaxed);
}

void request_metrics::refused(const refusal& refusal) {
  if (refusal.request == nullptr) return;
  auto info = refusal.request->info;
  if (info.verb.empty() && !refusal.request->path.empty())
    info = parse_request_info(refusal.request->method_text, refusal.request->path,
                              refusal.request->query);
  const auto target = route_of(info);
  const auto wanted = verb_of(target, info);
  const place about{target.kind,
                    wanted ? verb_label(*wanted) : method_label(refusal.request->method_text),
                    "",
                    {}};
  find(totals_, key{about, refusal.code}).fetch_add(1, std::memory_order_relaxed);
  if (refusal.code == 401) unauthorized_.fetch_add(1, std::memory_order_relaxed);
  if (refusal.code == 429)
    rejected_[static_cast<std::size_t>(flow_schema_of(*refusal.request))].fetch_add(
        1, std::memory_order_relaxed);
}

void request_metrics::add_to(families& out) const {
  const std::shared_lock lock{mutex_};
  family totals{out, "apiserver_request_total", "Answered requests.", MetricType::Counter};
  for (const auto& [key, number] : totals_) {
    auto with = labels_of(key.first);
    with.emplace_back("code", std::to_string(key.second));
    totals.counter(static_cast<double>(number->load()), with);
  }
  family{out, "authentication_attempts", "Requests with missing or invalid credentials.",
         MetricType::Counter}
      .counter(static_cast<double>(unauthorized_.load()), {{"result", "failure"}});
  family rejected{out, "apiserver_flowcontrol_rejected_requests_total",
                  "Requests refused by the in-flight limit, or for the size of bodies.",
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
  for (const auto& [target, from] : times_) {
    std::array<std::uint64_t, bounds.size() + 1> counts{};
    for (std::size_t i = 0; i < counts.size(); ++i)
      counts[i] = from->counts[i].load();
    times.histogram(bounds.data(), counts.data(), bounds.size(),
                    static_cast<double>(from->sum_ns.load()) / 1e9, labels_of(target));
  }
}

}  // namespace troupe::server
