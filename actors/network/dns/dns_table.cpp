#include "actors/network/dns/dns_table.hpp"

#include <algorithm>
#include <iterator>
#include <tuple>

#include "actors/network/dns/dns_name.hpp"

namespace troupe::actors::dns {
namespace {

bool less(const named_record& a, const named_record& b) {
  return std::tie(a.first, a.second.type, a.second.data) <
         std::tie(b.first, b.second.type, b.second.data);
}

}  // namespace

void table_maker::replace(const std::string& source, std::vector<named_record> records) {
  std::sort(records.begin(), records.end(), less);
  records.erase(std::unique(records.begin(), records.end()), records.end());
  auto& before = sources_[source];
  if (before == records) return;
  std::vector<named_record> differences;
  std::set_symmetric_difference(before.begin(), before.end(), records.begin(), records.end(),
                                std::back_inserter(differences), less);
  std::vector<std::string> changed;
  for (auto& each : differences)
    if (changed.empty() || changed.back() != each.first) changed.push_back(std::move(each.first));
  for (const auto& name : changed) {
    const auto [first, last] = std::equal_range(
        records.begin(), records.end(), named_record{name, {}},
        [](const named_record& a, const named_record& b) { return a.first < b.first; });
    const auto found = names_.find(name);
    const bool had = found != names_.end() && !found->second.records.empty();
    if (had) remove_from(name, source);
    if (first != last && names_[name].records.empty() && !had) count_up(name);
    auto& state = names_[name];
    for (auto at = first; at != last; ++at)
      state.records.emplace_back(source, at->second);
    if (state.records.empty()) {
      if (had) count_down(name);
      if (names_[name].below == 0) names_.erase(name);
    }
    publish(name);
  }
  if (records.empty())
    sources_.erase(source);
  else
    before = std::move(records);
}

void table_maker::remove_from(const std::string& name, const std::string& source) {
  std::erase_if(names_[name].records, [&](const auto& each) { return each.first == source; });
}

// A name exists if it or a name below it has records; each name that starts or ceases to exist is
// counted at its parent.
void table_maker::count_up(std::string_view name) {
  if (names_[std::string{name}].below != 0) return;  // it existed before
  const auto above = std::string{parent_of(name)};
  if (above.empty()) return;
  if (names_[above].records.empty()) count_up(above);
  ++names_[above].below;
  publish(above);
}

void table_maker::count_down(std::string_view name) {
  if (names_[std::string{name}].below != 0) return;  // it still exists
  const auto above = std::string{parent_of(name)};
  if (above.empty()) return;
  auto& state = names_[above];
  if (--state.below == 0 && state.records.empty()) {
    count_down(above);
    names_.erase(above);
  }
  publish(above);
}

void table_maker::publish(const std::string& name) {
  const auto found = names_.find(name);
  const auto place = dns_table::place(name);
  auto& shard = now_.shards_[place];
  if (!own_.test(place))
    shard =
        shard ? std::make_shared<dns_table::shard>(*shard) : std::make_shared<dns_table::shard>();
  own_.set(place);
  if (found == names_.end()) {
    shard->erase(name);
    return;
  }
  record_list all;
  for (const auto& [source, each] : found->second.records)
    all.push_back(each);
  (*shard)[name] = std::make_shared<const record_list>(std::move(all));
}

}  // namespace troupe::actors::dns
