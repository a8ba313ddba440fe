// Actors by kind. Upstream calls a mailbox a work queue.
#include "actors/control_plane/leading_actors.hpp"
#include "actors/controllers/registry.hpp"
#include "server/metrics/families.hpp"

namespace troupe::server {

using prometheus::MetricType;

namespace {

struct kind_row {
  std::uint64_t actors = 0, mailbox = 0, received = 0, handled = 0, restarts = 0;
  runtime::duration busy{0}, longest_running{0}, oldest{0};
};

double seconds(runtime::duration d) {
  return std::chrono::duration<double>{d}.count();
}

std::map<std::string, kind_row> rows_of(const runtime::directory& actors) {
  std::map<std::string, kind_row> kinds;
  for (const auto& [kind, past] : actors.ended_totals()) {
    auto& row = kinds[kind];
    row.received = past.received;
    row.handled = past.handled;
    row.restarts = past.restarts;
    row.busy = past.busy;
  }
  actors.each([&](const runtime::actor_info& each) {
    auto& row = kinds[each.kind];
    ++row.actors;
    row.mailbox += each.mailbox;
    row.received += each.received;
    row.handled += each.handled;
    row.restarts += each.restarts;
    row.busy += each.busy;
    row.longest_running = std::max(row.longest_running, each.current_for);
    row.oldest = std::max(row.oldest, each.oldest);
  });
  return kinds;
}

}  // namespace

void add_actor_metrics(families& out, const runtime::directory& directory) {
  const auto kinds = rows_of(directory);
  const auto each = [&](const char* name, const char* help, MetricType type, const char* label,
                        auto value) {
    family made{out, name, help, type};
    for (const auto& [kind, row] : kinds) {
      const auto number = static_cast<double>(value(row));
      if (type == MetricType::Counter) {
        made.counter(number, {{label, kind}});
      } else {
        made.gauge(number, {{label, kind}});
      }
    }
  };
  each("workqueue_depth", "Messages waiting in the mailboxes of a kind of actor.",
       MetricType::Gauge, "name", [](const kind_row& r) { return r.mailbox; });
  each("workqueue_adds_total", "Messages sent to a kind of actor.", MetricType::Counter, "name",
       [](const kind_row& r) { return r.received; });
  each("workqueue_longest_running_processor_seconds",
       "Running time of the longest-running handler.", MetricType::Gauge, "name",
       [](const kind_row& r) { return seconds(r.longest_running); });
  each("troupe_actors", "Live actors.", MetricType::Gauge, "kind",
       [](const kind_row& r) { return r.actors; });
  each("troupe_actor_messages_handled_total", "Handled messages.", MetricType::Counter, "kind",
       [](const kind_row& r) { return r.handled; });
  each("troupe_actor_busy_seconds_total", "Time in handlers.", MetricType::Counter, "kind",
       [](const kind_row& r) { return seconds(r.busy); });
  each("troupe_actor_oldest_message_seconds", "Age of the oldest waiting message.",
       MetricType::Gauge, "kind", [](const kind_row& r) { return seconds(r.oldest); });
  each("troupe_actor_restarts_total", "Restarts after a crash.", MetricType::Counter, "kind",
       [](const kind_row& r) { return r.restarts; });
  family controllers{out, "troupe_controller_objects",
                     "Objects managed by a controller, each by an actor of its own.",
                     MetricType::Gauge};
  for (const auto& type : actors::known_controllers())
    for (const auto& owner : type.owners) {
      const auto row = kinds.find(owner.actor_kind);
      controllers.gauge(row == kinds.end() ? 0 : static_cast<double>(row->second.actors),
                        {{"controller", type.name}, {"kind", owner.kind->kind()}});
    }
  family leading{out, "troupe_leading_actor_running",
                 "Whether an actor of the leading control plane runs here.", MetricType::Gauge};
  for (const auto& each : actors::leading_actors())
    leading.gauge(directory.find(each.kind, each.name) ? 1 : 0,
                  {{"actor", each.kind + "/" + each.name}});
  const auto watches = kinds.find("watch");
  family{out, "apiserver_longrunning_requests", "Open watches.", MetricType::Gauge}.gauge(
      watches == kinds.end() ? 0 : static_cast<double>(watches->second.actors),
      {{"verb", "WATCH"}});
}

}  // namespace troupe::server
