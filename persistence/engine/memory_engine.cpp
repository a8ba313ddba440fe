#include "persistence/engine/memory_engine.hpp"

#include <mutex>
#include <vector>

namespace troupe::persistence {

namespace {

struct operation {
  enum class type { put, remove, remove_range } kind;
  table target;
  std::string key;
  std::string value;  // remove_range: the end
};

class memory_batch final : public write_batch {
 public:
  void put(table target, std::string_view key, std::string_view head,
           std::string_view tail) override {
    std::string value;
    value.reserve(head.size() + tail.size());
    value.append(head).append(tail);
    add({operation::type::put, target, std::string{key}, std::move(value)});
  }
  void remove(table target, std::string_view key) override {
    add({operation::type::remove, target, std::string{key}, {}});
  }
  void remove_range(table target, std::string_view from, std::string_view to) override {
    add({operation::type::remove_range, target, std::string{from}, std::string{to}});
  }
  void clear() override {
    operations_.clear();
    size_bytes_ = 0;
  }
  std::size_t size_bytes() const override { return size_bytes_; }
  const std::vector<operation>& operations() const noexcept { return operations_; }

 private:
  void add(operation next) {
    size_bytes_ += next.key.size() + next.value.size();
    operations_.push_back(std::move(next));
  }

  std::vector<operation> operations_;
  std::size_t size_bytes_ = 0;
};

class memory_engine final : public engine {
 public:
  explicit memory_engine(std::shared_ptr<memory_disk> disk) : disk_{std::move(disk)} {}

  std::unique_ptr<write_batch> make_batch() const override {
    return std::make_unique<memory_batch>();
  }

  expected<void> write(write_batch& batch, durability) override {
    std::unique_lock lock{disk_->mutex};
    for (const auto& each : static_cast<const memory_batch&>(batch).operations())
      apply(each);
    return {};
  }

  expected<void> sync() override { return {}; }

  expected<std::optional<std::string>> get(table target, std::string_view key) const override {
    std::shared_lock lock{disk_->mutex};
    const auto& rows = rows_of(target);
    const auto found = rows.find(key);
    if (found == rows.end()) return std::nullopt;
    return found->second;
  }

  expected<void> scan(table target, std::string_view from, const visitor& visit) const override {
    std::shared_lock lock{disk_->mutex};
    const auto& rows = rows_of(target);
    for (auto at = rows.lower_bound(from); at != rows.end(); ++at)
      if (!visit(at->first, at->second)) break;
    return {};
  }

  expected<std::optional<std::string>> last_key(table target) const override {
    std::shared_lock lock{disk_->mutex};
    const auto& rows = rows_of(target);
    if (rows.empty()) return std::nullopt;
    return rows.rbegin()->first;
  }

  std::uint64_t size_bytes(table target) const override {
    std::shared_lock lock{disk_->mutex};
    return disk_->sizes_bytes[static_cast<std::size_t>(target)];
  }

  bool is_behind() const override { return disk_->is_behind; }

  std::vector<std::string> file_boundaries(table target) const override {
    const auto last = last_key(target);
    return *last ? std::vector<std::string>{**last} : std::vector<std::string>{};
  }

  expected<void> reclaim(table, std::string_view) override { return {}; }
  expected<void> rewrite(std::atomic<bool>&) override { return {}; }
  expected<void> health() const override { return {}; }

  void acknowledge(revision at) override {
    std::unique_lock lock{disk_->mutex};
    disk_->acknowledged = at;
  }
  revision acknowledged() const override {
    std::shared_lock lock{disk_->mutex};
    return disk_->acknowledged;
  }

  expected<void> probe() override { return {}; }

 private:
  memory_disk::rows& rows_of(table target) const {
    return disk_->tables[static_cast<std::size_t>(target)];
  }

  void apply(const operation& next) {
    auto& rows = rows_of(next.target);
    switch (next.kind) {
      case operation::type::put: {
        drop(next.target, rows.find(next.key));
        rows.emplace(next.key, next.value);
        disk_->sizes_bytes[static_cast<std::size_t>(next.target)] +=
            next.key.size() + next.value.size();
        return;
      }
      case operation::type::remove:
        drop(next.target, rows.find(next.key));
        return;
      case operation::type::remove_range: {
        auto at = rows.lower_bound(next.key);
        while (at != rows.end() && at->first < next.value)
          at = drop(next.target, at);
        return;
      }
    }
  }

  memory_disk::rows::iterator drop(table target, memory_disk::rows::iterator at) {
    auto& rows = rows_of(target);
    if (at == rows.end()) return at;
    disk_->sizes_bytes[static_cast<std::size_t>(target)] -= at->first.size() + at->second.size();
    return rows.erase(at);
  }

  std::shared_ptr<memory_disk> disk_;
};

}  // namespace

engine_factory memory_engine_on(std::shared_ptr<memory_disk> disk) {
  return [disk](open_mode) -> expected<std::unique_ptr<engine>> {
    return std::make_unique<memory_engine>(disk);
  };
}

}  // namespace troupe::persistence
