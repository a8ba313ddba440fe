// Lists of actors: filtered, sorted and truncated here, so that clients need not read them all.
#include <algorithm>
#include <functional>
#include <map>

#include "server/console/views/views.hpp"

namespace troupe::server {
namespace {

using runtime::actor_info;
using smaller = std::function<bool(const actor_info&, const actor_info&)>;

template <class Member>
smaller most_first(Member member) {
  return [member](const actor_info& a, const actor_info& b) {
    const auto x = member(a);
    const auto y = member(b);
    return x != y ? x > y : a.id < b.id;
  };
}

// Null for an unknown name.
smaller order_called(std::string_view name) {
  if (name == "mailbox") return most_first([](const actor_info& a) { return a.mailbox; });
  if (name == "messages") return most_first([](const actor_info& a) { return a.handled; });
  if (name == "busy") return most_first([](const actor_info& a) { return a.busy; });
  if (name == "longest") return most_first([](const actor_info& a) { return a.longest; });
  if (name == "oldest") return most_first([](const actor_info& a) { return a.oldest; });
  if (name == "restarts") return most_first([](const actor_info& a) { return a.restarts; });
  if (name == "age") return most_first([](const actor_info& a) { return a.age; });
  if (name != "name") return {};
  return [](const actor_info& a, const actor_info& b) {
    return std::tie(a.kind, a.name, a.id) < std::tie(b.kind, b.name, b.id);
  };
}

// Keeps the first `size` rows in order, of any number of rows.
class best_rows {
 public:
  best_rows(std::size_t size, smaller first) : size_{size}, first_{std::move(first)} {}

  void offer(const actor_info& row) {
    if (rows_.size() < size_) {
      rows_.push_back(row);
      std::push_heap(rows_.begin(), rows_.end(), first_);
    } else if (size_ > 0 && first_(row, rows_.front())) {
      std::pop_heap(rows_.begin(), rows_.end(), first_);
      rows_.back() = row;
      std::push_heap(rows_.begin(), rows_.end(), first_);
    }
  }
  std::vector<actor_info> sorted() && {
    std::sort_heap(rows_.begin(), rows_.end(), first_);
    return std::move(rows_);
  }

 private:
  const std::size_t size_;
  const smaller first_;
  std::vector<actor_info> rows_;
};

const char* state_of(const actor_info& row) {
  if (row.paused) return "paused";
  if (row.backing_off) return "backing off";
  if (!row.current.empty()) return "running";
  return row.mailbox > 0 ? "ready" : "idle";
}

void append_row(json_writer& out, const actor_info& row, const std::string& node) {
  out.begin_object()
      .member("actor", full_name(row))
      .member("state", std::string_view{state_of(row)})
      .member("mailbox", row.mailbox)
      .member("oldestSeconds", row.oldest)
      .member("received", row.received)
      .member("handled", row.handled)
      .member("busySeconds", row.busy)
      .member("longestSeconds", row.longest)
      .member("current", row.current)
      .member("restarts", row.restarts)
      .member("ageSeconds", row.age)
      .member("node", node)
      .member("id", row.id)
      .end_object();
}

}  // namespace

view_result show_actors(const console_context& context, const query_string& query) {
  const auto sort = query.get_or("sort", "mailbox");
  auto order = order_called(sort);
  if (!order)
    return api::fail(api::bad_request(
        "sort: one of mailbox, messages, busy, longest, oldest, restarts, age, name"));
  const auto count = number_of(query, "top", defaults::rows_shown, defaults::rows_limit);
  if (!count) return api::fail(count.error());
  const auto offset = number_of(query, "offset", 0, ~std::size_t{0});
  if (!offset) return api::fail(offset.error());
  if (*offset > defaults::offset_limit)
    return api::fail(api::bad_request("offset: at most " + std::to_string(defaults::offset_limit) +
                                      "; narrow the list by kind or match"));
  const auto parent = number_of(query, "parent", 0, ~std::size_t{0});
  if (!parent) return api::fail(parent.error());
  const auto kind = query.get_or("kind", "");
  const auto match = query.get_or("match", "");

  best_rows best{*offset + *count, std::move(order)};
  std::size_t all = 0;
  std::string name;
  context.actors().each([&](const actor_info& each) {
    if (!kind.empty() && each.kind != kind) return;
    if (*parent != 0 && each.parent != *parent) return;
    if (!match.empty()) {
      name.assign(each.kind).append("/").append(each.name);
      if (!matches_glob(name, match)) return;
    }
    ++all;
    best.offer(each);
  });
  const auto rows = std::move(best).sorted();
  json_writer out;
  out.begin_array();
  for (auto i = *offset; i < rows.size(); ++i)
    append_row(out, rows[i], context.node);
  out.end_array();
  return view_answer{out, all};
}

namespace {

// Names that begin with the typed text: the first few of them, and their longest common prefix, to
// which a prompt completes.
class name_list {
 public:
  void add(std::string_view name) {
    if (++count_ == 1) common_ = name;
    const auto differs = std::mismatch(common_.begin(), common_.end(), name.begin(), name.end());
    common_.erase(differs.first, common_.end());
    if (count_ <= defaults::names_shown) shown_.emplace_back(name);
  }

  view_answer answer() && {
    std::sort(shown_.begin(), shown_.end());
    if (count_ > shown_.size()) shown_.insert(shown_.begin(), common_);
    json_writer out;
    out.begin_array();
    for (const auto& each : shown_)
      out.value(each);
    out.end_array();
    return {out, count_};
  }

 private:
  std::vector<std::string> shown_;
  std::string common_;
  std::size_t count_ = 0;
};

}  // namespace

// For completion: names of actors or, if the text begins with a resource, of objects.
view_result show_names(const console_context& context, const query_string& query) {
  const auto text = query.get_or("prefix", "");
  name_list found;
  std::string name;
  if (query.get_or("of", "actors") == "objects") {
    const auto slash = text.find('/');
    const auto named = parse_object_name(text.ends_with('/') ? text + "-" : text);
    if (slash != std::string::npos && named && context.plane != nullptr) {
      const auto begin = text.substr(0, slash) + "/";
      const auto key_prefix = named->kind->prefix() + text.substr(slash + 1);
      const auto head = named->kind->prefix().size();
      context.store().read().scan(key_prefix, {},
                                  [&](std::string_view key, const api::object_ptr&) {
                                    name.assign(begin).append(key.substr(head));
                                    found.add(name);
                                    return true;
                                  });
    }
  } else {
    context.actors().each([&](const actor_info& each) {
      name.assign(each.kind).append("/").append(each.name);
      if (name.starts_with(text)) found.add(name);
    });
  }
  return std::move(found).answer();
}

// Senders, receivers and message types by kind, from the recorder's current content.
view_result show_flow(const console_context& context, const query_string&) {
  const auto records = context.system.recorder().read_all();
  std::vector<std::uint64_t> ids;
  for (const auto& each : records) {
    ids.push_back(each.receiver);
    ids.push_back(each.sender);
  }
  const auto names = names_of(context, ids);
  const auto kind_of = [&](std::uint64_t id) -> std::string_view {
    if (id == 0) return "outside";
    const std::string_view name = names.at(id);
    return name.substr(0, name.find('/'));
  };
  struct stream {
    std::uint64_t count = 0;
    runtime::duration busy{0}, waited{0};
  };
  std::map<std::tuple<std::string_view, std::string_view, std::string_view>, stream> streams;
  for (const auto& each : records) {
    auto& one = streams[{kind_of(each.sender), kind_of(each.receiver), each.type}];
    ++one.count;
    one.busy += each.took;
    one.waited += each.waited;
  }
  std::vector<std::pair<decltype(streams)::key_type, stream>> sorted(streams.begin(),
                                                                     streams.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second.count > b.second.count; });
  json_writer out;
  out.begin_array();
  for (const auto& [route, one] : sorted) {
    const auto& [from, to, type] = route;
    out.begin_object()
        .member("from", from)
        .member("to", to)
        .member("type", type)
        .member("count", one.count)
        .member("busySeconds", one.busy)
        .member("meanWaitSeconds", one.waited / one.count)
        .end_object();
  }
  out.end_array();
  return view_answer{out};
}

}  // namespace troupe::server
