// Current activity: rates by kind, the busiest actors, the writer's queue, watchers; and
// warnings.
#include <fmt/format.h>

#include "actors/defaults.hpp"
#include "api/schema/coordination_v1.pb.h"
#include "api/schema/core_node.pb.h"
#include "api/scheme.hpp"
#include "server/console/output/rendering.hpp"
#include "server/console/views/sampler.hpp"
#include "server/console/views/views.hpp"
#include "server/console/views/watches.hpp"

namespace troupe::server {
namespace {

double seconds(runtime::duration d) {
  return std::chrono::duration<double>{d}.count();
}

template <class T>
double rate(T now, T before, double apart) {
  return now > before ? static_cast<double>(now - before) / apart : 0;
}

void append_kinds(json_writer& out, const sampler::pair& samples) {
  std::vector<std::pair<std::string, kind_sample>> rows(samples.now->kinds.begin(),
                                                        samples.now->kinds.end());
  const auto before = [&](const std::string& kind) {
    const auto found = samples.before->kinds.find(kind);
    return found == samples.before->kinds.end() ? kind_sample{} : found->second;
  };
  const auto busy = [&](const auto& row) { return row.second.busy - before(row.first).busy; };
  std::stable_sort(rows.begin(), rows.end(),
                   [&](const auto& a, const auto& b) { return busy(a) > busy(b); });
  out.begin_array("kinds");
  for (const auto& [kind, now] : rows) {
    const auto past = before(kind);
    out.begin_object()
        .member("kind", kind)
        .member("actors", now.actors)
        .member("perSecond", samples.per_second(now.handled, past.handled))
        .member("busyPercent", 100 * seconds(now.busy - past.busy) / samples.seconds)
        .member("mailbox", now.mailbox)
        .member("oldestSeconds", now.oldest)
        .member("restarts", now.restarts)
        .end_object();
  }
  out.end_array();
}

void append_actors(json_writer& out, std::string_view name, const std::vector<actor_rate>& rows) {
  out.begin_array(name);
  for (const auto& row : rows) {
    out.begin_object()
        .member("actor", full_name(row.info))
        .member("perSecond", row.handled_per_second)
        .member("busyPercent", 100 * row.busy_share)
        .member("mailbox", row.info.mailbox)
        .member("oldestSeconds", row.info.oldest)
        .member("current", row.info.current)
        .member("restarts", row.info.restarts)
        .end_object();
  }
  out.end_array();
}

void append_store(json_writer& out, const console_context& context, const sampler::pair& samples) {
  const auto& now = samples.now->store;
  out.member("revision", now.current)
      .member("transactionsPerSecond",
              samples.per_second(now.transactions, samples.before->store.transactions))
      .member("writerQueue", now.queued)
      .member("fsyncP50Seconds", now.sync_p50)
      .member("fsyncP99Seconds", now.sync_p99);
  if (const auto watches = ask_watcher(context, {.limit = 0}))
    out.member("watchStreams", watches->streams)
        .member("watchStreamsBehind", watches->streams_behind);
}

class warning_list {
 public:
  void add(const char* kind, const std::string& about, std::string message) {
    if (++count_ > defaults::warnings_limit) return;
    out_.begin_object()
        .member("warning", std::string_view{kind})
        .member("about", about)
        .member("message", message)
        .end_object();
  }
  json_writer& out() { return out_; }

 private:
  json_writer out_;
  std::size_t count_ = 0;
};

void warn_of_actors(warning_list& to, const system_sample& sample) {
  for (const auto& row : sample.fullest) {
    if (row.info.mailbox >= defaults::warn_mailbox && row.info.mailbox > row.mailbox_before) {
      to.add("mailbox", full_name(row.info),
             fmt::format("{} messages wait, {} a moment ago; the oldest for {}", row.info.mailbox,
                         row.mailbox_before, human_time(seconds(row.info.oldest))));
    }
  }
  for (const auto& row : sample.suspicious) {
    if (row.info.current_for > defaults::warn_handler)
      to.add("handler", full_name(row.info),
             fmt::format("has been handling {} for {}", row.info.current,
                         human_time(seconds(row.info.current_for))));
  }
  for (const auto& row : sample.stood_out) {
    if (row.new_longest && row.info.longest > defaults::warn_handler) {
      to.add("handler", full_name(row.info),
             fmt::format("a handler took {}", human_time(seconds(row.info.longest))));
    }
    if (row.new_restarts > 0 && row.info.restarts >= defaults::warn_restarts) {
      to.add("restarts", full_name(row.info),
             fmt::format("was restarted {} times, the last time because of: {}", row.info.restarts,
                         row.info.last_error));
    }
  }
}

void warn_of_leases(warning_list& to, const console_context& context) {
  using api::coordination::v1::Lease;
  const auto now =
      std::chrono::duration<double>{std::chrono::system_clock::now().time_since_epoch()}.count();
  const auto state = context.store().read();
  state.scan(
      api::kind_of<Lease>().prefix(actors::defaults::node_lease_namespace), {},
      [&](std::string_view key, const api::object_ptr& found) {
        if (!state.find(api::kind_of<api::core::v1::Node>().key({}, found->meta().name())))
          return true;
        const auto& spec = found->as<Lease>().spec();
        const auto age = now - static_cast<double>(spec.renew_time().seconds());
        const auto limit = static_cast<double>(spec.lease_duration_seconds());
        if (limit > 0 && spec.renew_time().seconds() > 0 && age > defaults::warn_lease_age * limit)
          to.add("lease", readable_key(key),
                 fmt::format("was renewed {} ago and is good for {}", human_time(age),
                             human_time(limit)));
        return true;
      });
}

}  // namespace

view_result show_top(const console_context& context, const query_string&) {
  const auto samples = context.samples.look();
  const auto& now = *samples.now;
  const auto& before = *samples.before;
  json_writer out;
  out.begin_object()
      .member("time", time_text(std::chrono::system_clock::now()))
      .member("actors", now.actors)
      .member("messagesPerSecond", samples.per_second(now.handled, before.handled))
      .member("mailbox", now.mailbox)
      .member("requestsPerSecond", samples.per_second(now.http.requests, before.http.requests))
      .member("connections", now.http.now_connections);
  if (context.plane != nullptr) append_store(out, context, samples);
  append_kinds(out, samples);
  append_actors(out, "busiest", now.busiest);
  append_actors(out, "fullest", now.fullest);
  out.end_object();
  return view_answer{out};
}

// For charts: a row per second while they are shown.
view_result show_rates(const console_context& context, const query_string&) {
  const auto samples = context.samples.kept();
  json_writer out;
  out.begin_array();
  for (std::size_t i = 1; i < samples.size(); ++i) {
    const auto& now = *samples[i];
    const auto& before = *samples[i - 1];
    const auto apart = std::max(seconds(now.at - before.at), 1e-3);
    out.begin_object()
        .member("agoSeconds", samples.back()->at - now.at)
        .member("messagesPerSecond", rate(now.handled, before.handled, apart))
        .member("transactionsPerSecond",
                rate(now.store.transactions, before.store.transactions, apart))
        .member("requestsPerSecond", rate(now.http.requests, before.http.requests, apart))
        .member("mailbox", now.mailbox)
        .member("actors", now.actors)
        .end_object();
  }
  out.end_array();
  return view_answer{out};
}

view_result show_warnings(const console_context& context, const query_string&) {
  const auto sample = context.samples.look();
  warning_list all;
  all.out().begin_array();
  warn_of_actors(all, *sample.now);
  if (const auto watches = ask_watcher(context, {.limit = defaults::rows_shown})) {
    for (const auto& row : watches->rows)
      if (row.behind > defaults::warn_revisions_behind)
        all.add("watcher", row.prefix,
                fmt::format("the subscriber {} is {} revisions behind, with credit for {} events",
                            row.subscriber, row.behind, row.credit));
  }
  if (context.plane != nullptr) warn_of_leases(all, context);
  if (sample.now->store.read_only)
    all.add("store", "store", "the store is read-only: its disk refuses to be written");
  if (sample.now->store.low_space)
    all.add(
        "store", "store",
        fmt::format("the disk of the store is nearly full ({} MiB are free): nothing is created "
                    "or grows; delete objects, or free space on that file system",
                    sample.now->store.disk_free_bytes >> 20));
  if (sample.now->store.log_full)
    all.add("store", "store",
            "etcd has used its quota: nothing is created or changed; delete objects, compact it, "
            "run etcdctl defrag for each member, then etcdctl alarm disarm");
  all.out().end_array();
  return view_answer{all.out()};
}

}  // namespace troupe::server
