#include "persistence/replica/upstream_log.hpp"

#include <utility>

#include "api/scheme.hpp"
#include "api/storage/upstream_form.hpp"
#include "persistence/replica/log_record.hpp"
#include "persistence/replica/upstream_keys.hpp"

namespace troupe::persistence {

namespace {

const upstream_keys& keys() {
  return upstream_keys::instance();
}

// `key` is our key.
void read_value(std::string_view key, std::string& value) {
  if (key.starts_with(own_prefix)) return;
  const auto kind = api::scheme::instance().find_key(key);
  if (auto read = api::from_upstream(kind.get(), value)) value = std::move(*read);
}

void write_value(std::string_view key, std::string& value, upstream_target target) {
  if (key.starts_with(own_prefix)) return;
  const auto kind = api::scheme::instance().find_key(key);
  value = api::to_upstream(kind.get(), value, target.minor);
}

// Returns nullopt for a key that maps to no object.
std::optional<log_item> read_item(log_item from, bool keys_only = false) {
  auto key = keys().from_log(from.key);
  if (!key) return std::nullopt;
  from.key = std::move(*key);
  if (!keys_only) read_value(from.key, from.value);
  return from;
}

// Lists the key range number `index`, starting after `wanted.after` (a key of the log). The caller
// may be gone when the log answers.
void list_range(shared_log& log, std::size_t index, log_range wanted,
                std::function<void(expected<log_page>)> done) {
  const bool keys_only = wanted.keys_only;
  log.list(std::move(wanted), [&log, index, keys_only,
                               done = std::move(done)](expected<log_page> page) mutable {
    if (!page) return done(std::move(page));
    const auto& ranges = keys().ranges();
    const auto& range = ranges[index];
    const bool is_over =
        !page->more || (!range.end_in_log.empty() && page->items.back().key >= range.end_in_log);
    auto next = is_over ? std::string{} : page->items.back().key;
    log_page seen{page->at, {}, !is_over || index + 1 < ranges.size()};
    for (auto& each : page->items) {
      if (!range.contains_log_key(each.key)) continue;
      if (auto item = read_item(std::move(each), keys_only)) seen.items.push_back(std::move(*item));
    }
    // Pages before the end are not empty: readers continue after the last
    // key.
    if (!seen.items.empty() || !seen.more) return done(std::move(seen));
    if (is_over) next = ranges[++index].there;
    list_range(log, index, {std::move(next), seen.at, keys_only}, std::move(done));
  });
}

// Passes the steps on, converted.
class reader final : public log_reader {
 public:
  explicit reader(log_reader& to) : to_{to} {}

  // Keeps a step even if none of its keys is visible: readers see every revision.
  void on_steps(std::vector<log_step> steps) override {
    for (auto& step : steps)
      std::erase_if(step.changes, [](log_change& each) {
        auto key = keys().from_log(each.key);
        if (!key) return true;
        each.key = std::move(*key);
        if (each.value) read_value(each.key, *each.value);
        return false;
      });
    to_.on_steps(std::move(steps));
  }
  void on_end(error reason) override { to_.on_end(std::move(reason)); }

 private:
  log_reader& to_;
};

}  // namespace

void upstream_log::submit(log_transaction request, std::function<void(log_answer)> done) {
  for (auto& each : request.compares)
    each.key = keys().to_log(each.key);
  for (auto& each : request.writes) {
    if (each.value) write_value(each.key, *each.value, target_);
    each.key = keys().to_log(each.key);
  }
  log().submit(std::move(request), std::move(done));
}

void upstream_log::follow(revision after, log_reader& to) {
  follow_through(after, std::make_unique<reader>(to));
}

void upstream_log::read(std::string key,
                        std::function<void(expected<std::optional<log_item>>)> done) {
  log().read(keys().to_log(key), [done = std::move(done)](expected<std::optional<log_item>> found) {
    if (found && *found) *found = read_item(std::move(**found));
    done(std::move(found));
  });
}

void upstream_log::list(log_range wanted, std::function<void(expected<log_page>)> done) {
  const auto& ranges = keys().ranges();
  std::size_t index = 0;
  while (index + 1 < ranges.size() && wanted.after >= ranges[index].to)
    ++index;
  const auto& first = ranges[index];
  wanted.after = wanted.after < first.from ? first.there : keys().to_log(wanted.after);
  list_range(log(), index, std::move(wanted), std::move(done));
}

}  // namespace troupe::persistence
