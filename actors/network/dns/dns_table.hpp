// All names that the cluster's DNS is authoritative for: an immutable table shared by readers, and
// a builder that makes the next one when a service has changed. Copies share unchanged parts.
//
// The table may be read on any thread; the builder belongs to one actor.
#pragma once

#include <array>
#include <bitset>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "actors/core/text_map.hpp"
#include "actors/network/dns/dns_message.hpp"

namespace troupe::actors::dns {

// A name in wire format, and one of its records.
using named_record = std::pair<std::string, record>;

class dns_table {
 public:
  // Null: no such name. Empty: the name has no records, but names below it have.
  const record_list* find(std::string_view name) const {
    const auto& at = shards_[place(name)];
    if (!at) return nullptr;
    const auto found = at->find(name);
    return found == at->end() ? nullptr : found->second.get();
  }

 private:
  friend class table_maker;
  using shard = text_map<std::shared_ptr<const record_list>>;
  static constexpr std::size_t count = 256;
  // Uses other bits of the hash than the choice of the bucket.
  static std::size_t place(std::string_view name) noexcept { return hash_of_text{}(name) >> 56; }

  std::array<std::shared_ptr<shard>, count> shards_;
};

using table_ptr = std::shared_ptr<const dns_table>;

class table_maker {
 public:
  // Replaces all records of this source; empty: the source is removed.
  void replace(const std::string& source, std::vector<named_record> records);
  // The current table. Later changes copy a shard before they modify it.
  table_ptr table() {
    own_.reset();
    return std::make_shared<const dns_table>(now_);
  }

 private:
  struct name_state {
    std::vector<std::pair<std::string, record>> records;  // by source
    std::size_t below = 0;                                // number of names directly below it
  };
  void remove_from(const std::string& name, const std::string& source);
  void publish(const std::string& name);
  void count_up(std::string_view name);
  void count_down(std::string_view name);

  std::unordered_map<std::string, name_state> names_;
  std::unordered_map<std::string, std::vector<named_record>> sources_;
  dns_table now_;
  std::bitset<dns_table::count> own_;  // shards that no table shares
};

}  // namespace troupe::actors::dns
