#include "persistence/replica/replica_audit.hpp"

#include <spdlog/fmt/fmt.h>

#include <utility>

#include "api/scheme.hpp"
#include "persistence/replica/defaults.hpp"

namespace troupe::persistence {

namespace {

std::string shown(revision at) {
  return at == 0 ? "absent" : fmt::format("of revision {}", at);
}

// Merges two lists in order of key: the objects here, which are passed one by one, and the keys of
// the log.
class comparison {
 public:
  explicit comparison(const std::vector<log_item>& log) : next_{log.begin()}, end_{log.end()} {}

  void take(std::string_view key, revision here) {
    for (; next_ != end_ && next_->key < key; ++next_)
      take_absent();
    const bool is_there = next_ != end_ && next_->key == key;
    const auto there = is_there ? next_++->modified : 0;
    if (here != there) add(key, here, there);
  }
  audit_result end() {
    for (; next_ != end_; ++next_)
      take_absent();
    return std::move(result_);
  }

 private:
  // Objects of unknown kinds, and the keys of the stores themselves, are in the log alone.
  void take_absent() {
    if (api::scheme::instance().find_key(next_->key)) add(next_->key, 0, next_->modified);
  }
  void add(std::string_view key, revision here, revision there) {
    ++result_.differences;
    if (result_.examples.size() < defaults::audit_examples)
      result_.examples.push_back(
          fmt::format("{} is {} here and {} in the log", key, shown(here), shown(there)));
  }

  std::vector<log_item>::const_iterator next_;
  const std::vector<log_item>::const_iterator end_;
  audit_result result_;
};

}  // namespace

audit_result compare_page(const snapshot& here, std::string_view after, const log_page& page) {
  comparison made{page.items};
  const auto* last = page.more && !page.items.empty() ? &page.items.back().key : nullptr;
  here.scan({}, after, [&](std::string_view key, const api::object_ptr& found) {
    if (last != nullptr && key > *last) return false;
    made.take(key, found->revision());
    return true;
  });
  return made.end();
}

void replica_audit::check(shared_log& log, snapshot here, revision at, report differ) {
  if (std::exchange(asking_, true)) return;
  log.list({after_, at, true}, [this, here = std::move(here), at,
                                differ = std::move(differ)](const expected<log_page>& page) {
    asking_ = false;
    if (!page || page->at != at) return;
    const auto found = compare_page(here, after_, *page);
    after_ = page->more && !page->items.empty() ? page->items.back().key : std::string{};
    if (found.differences != 0) differ(found);
  });
}

}  // namespace troupe::persistence
