#include "tools/links/server_choice.hpp"

#include <algorithm>
#include <utility>

#include "config/units.hpp"

namespace troupe::tools {

namespace {

std::optional<runtime::link::address> link_of(const actors::api_server_record& record) {
  const auto read = config::parse_address(record.link);
  if (!read || read->empty() || read->port == 0) return std::nullopt;
  return runtime::link::address{read->host, read->port};
}

}  // namespace

server_choice::server_choice(std::optional<runtime::link::address> joined)
    : joined_{std::move(joined)} {}

void server_choice::learn(actors::api_server_records records) {
  const std::lock_guard lock{mutex_};
  records_ = std::move(records);
}

actors::api_server_records server_choice::records() const {
  const std::lock_guard lock{mutex_};
  return records_;
}

server_choice::addresses server_choice::first_addresses() {
  const std::lock_guard lock{mutex_};
  first_.clear();
  addresses all;
  if (joined_) all.push_back(*joined_);
  for (const auto& each : records_)
    if (auto link = link_of(each); link && std::find(all.begin(), all.end(), *link) == all.end())
      all.push_back(std::move(*link));
  return all;
}

void server_choice::linked(const std::string& key_hash) {
  const std::lock_guard lock{mutex_};
  first_ = key_hash;
}

server_choice::addresses server_choice::addresses_of(const std::string& name) const {
  const std::lock_guard lock{mutex_};
  const auto found = std::find_if(records_.begin(), records_.end(),
                                  [&](const auto& each) { return each.name == name; });
  if (found == records_.end()) return {};
  if (joined_ && (first_.empty() || first_ == found->key_hash)) return {};
  auto link = link_of(*found);
  return link ? addresses{std::move(*link)} : addresses{};
}

}  // namespace troupe::tools
