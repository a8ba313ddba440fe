#include "actors/nodes/pod_range_allocator.hpp"

#include <spdlog/fmt/fmt.h>

#include <utility>

#include "actors/core/log.hpp"
#include "actors/defaults.hpp"
#include "actors/write/commands.hpp"
#include "api/schema/core_node.pb.h"
#include "api/scheme.hpp"

namespace troupe::actors {

using api::core::v1::Node;

namespace {

bool has_range(const Node& node) {
  return !node.spec().pod_cidr().empty() || node.spec().pod_cidrs_size() != 0;
}

std::vector<api::cidr> ranges_of(const Node& node) {
  std::vector<api::cidr> out;
  for (const auto& text : node.spec().pod_cidrs())
    if (const auto range = api::cidr::parse(text)) out.push_back(*range);
  // Old clients set only this field.
  if (node.spec().pod_cidrs().empty())
    if (const auto range = api::cidr::parse(node.spec().pod_cidr())) out.push_back(*range);
  return out;
}

}  // namespace

pod_range_allocator::pod_range_allocator(const persistence::store* store, core_actors core,
                                         std::vector<pod_ranges> pools)
    : informer{core.watcher}, store_{*store}, core_{std::move(core)}, pools_{std::move(pools)} {}

const runtime::behavior& pod_range_allocator::make_behavior() const {
  static const auto table = runtime::handlers(&pod_range_allocator::on_watch_events,
                                              &pod_range_allocator::on_watch_ended);
  return table;
}

void pod_range_allocator::started() {
  await_barrier();
}

std::string pod_range_allocator::describe() const {
  std::string out;
  for (const auto& pool : pools_)
    out += fmt::format("ranges: {}\ntaken: {}\n", pool.size(), pool.taken());
  return out;
}

// -- the known nodes and ranges -------------------------------------------------------------------

// A write from before a restart of this actor may still be pending.
void pod_range_allocator::await_barrier() {
  request<barrier_done>(core_.writer, barrier{}, defaults::write_timeout,
                        [this](const auto& answered) {
                          if (answered && (*answered)->reached) return load();
                          again_ = after(defaults::try_again, [this] { await_barrier(); });
                        });
}

void pod_range_allocator::load() {
  const auto state = store_.read();
  known_ = state.at();
  state.scan(api::kind_of<Node>().prefix(), {},
             [this](std::string_view, const api::object_ptr& node) {
               take_node(node);
               return true;
             });
  follow(api::kind_of<Node>().prefix(), [this](const watch_events& m) { on_nodes(m); });
}

void pod_range_allocator::on_nodes(const watch_events& m) {
  for (const auto& event : m.events) {
    if (!event.object) continue;
    const auto& name = event.object->meta().name();
    if (!complete_) listed_.insert(name);
    if (event.at <= known_) continue;
    if (event.type == event_type::deleted) {
      drop_node(name);
    } else {
      take_node(event.object);
    }
  }
  if (m.synced && !std::exchange(complete_, true)) drop_vanished();
  if (complete_) allocate();
}

// A Node that was deleted between the store's snapshot and the start of the watch has no event.
void pod_range_allocator::drop_vanished() {
  const auto state = store_.read();
  for (auto at = rows_.begin(); at != rows_.end();) {
    const auto name = (at++)->first;
    if (!listed_.contains(name) && !state.find(api::kind_of<Node>().key({}, name))) drop_node(name);
  }
  listed_.clear();
}

void pod_range_allocator::take_node(const api::object_ptr& node) {
  auto& r = rows_[node->meta().name()];
  const bool replaced = r.node && r.node->meta().uid() != node->meta().uid();
  r.node = node;
  r.writing = false;
  if (has_range(node->as<Node>())) {
    occupy(r, ranges_of(node->as<Node>()));
  } else if (replaced) {
    release(r);
  }
}

void pod_range_allocator::drop_node(const std::string& name) {
  const auto found = rows_.find(name);
  if (found == rows_.end()) return;
  release(found->second);
  rows_.erase(found);
}

void pod_range_allocator::occupy(row& r, std::vector<api::cidr> ranges) {
  for (const auto& range : ranges)
    for (auto& pool : pools_)
      pool.occupy(range);
  release(r);
  r.ranges = std::move(ranges);
}

void pod_range_allocator::release(row& r) {
  for (const auto& range : std::exchange(r.ranges, {}))
    for (auto& pool : pools_)
      pool.release(range);
}

// -- allocation and writes ------------------------------------------------------------------------

void pod_range_allocator::allocate() {
  for (auto& [name, r] : rows_) {
    const bool wants = !has_range(r.node->as<Node>()) && !r.node->meta().has_deletion_timestamp();
    if (!wants || r.writing) continue;
    if (!r.ranges.empty() || take_ranges(r)) {
      write(r);
    } else if (!std::exchange(r.reported, true)) {
      report_none(r);
    }
  }
}

bool pod_range_allocator::take_ranges(row& r) {
  for (auto& pool : pools_) {
    const auto range = pool.take();
    if (!range) {
      release(r);
      return false;
    }
    r.ranges.push_back(*range);
  }
  return true;
}

void pod_range_allocator::write(row& r) {
  auto changed = r.node->copy_as<Node>();
  auto& spec = *changed->mutable_spec();
  spec.set_pod_cidr(r.ranges.front().text());
  for (const auto& range : r.ranges)
    spec.add_pod_cidrs(range.text());
  auto transaction =
      std::make_shared<persistence::transaction>(succeed(*r.node, std::move(changed)));
  transaction->cause.author = "pod-range-allocator";
  r.writing = true;
  request<commit_done>(core_.writer, commit{std::move(transaction)}, defaults::write_timeout,
                       [this, name = r.node->meta().name()](const auto& answered) {
                         // The new Node arrives by the watch, or has arrived.
                         if (answered && (*answered)->result) return;
                         const auto found = rows_.find(name);
                         if (found == rows_.end()) return;
                         found->second.writing = false;
                         again_ = after(defaults::try_again, [this] { allocate(); });
                       });
}

void pod_range_allocator::report_none(row& r) {
  const auto& name = r.node->meta().name();
  log().warn("node {} gets no range of addresses for its pods: all are taken", name);
  tell(core_.recorder, record_event{.about = r.node,
                                    .reason = "CIDRNotAvailable",
                                    .message = "Node " + name + " status is now: CIDRNotAvailable",
                                    .component = "cidrAllocator"});
}

}  // namespace troupe::actors
