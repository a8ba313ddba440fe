// The text that nft reads: the table `ip troupe-policy` of one node, whole or as a difference to
// the last text. Pods that come and go change elements of sets; a rule is written again when its
// policy changes. Tables of others are not touched. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "actors/network/policies/policy_rules.hpp"

namespace troupe::actors::policies {

inline constexpr const char* policy_table_name = "ip troupe-policy";

class policy_table {
 public:
  policy_table() { want({}); }

  // In place of what was wanted before.
  void want(const node_rules& rules);

  // Replaces the table, in one transaction: traffic sees the old one or the new one.
  std::string whole();
  // What has changed since the last text; empty: nothing.
  std::string difference();
  // Changes nothing, and fails where the table is not there.
  static std::string probe();
  // How many pods of the node are guarded in a direction, and rules of policies.
  std::size_t guarded() const { return guarded_; }
  std::size_t rules() const { return rule_numbers_.size(); }

 private:
  struct collection {
    std::string type;  // with its flags, as nft declares it
    bool map = false, interval = false;
    std::map<std::string, std::string> elements = {};  // with the data of a map
  };
  struct content {
    std::map<std::string, collection> collections;
    std::map<std::string, std::vector<std::string>> chains;  // with their rules
  };

  void add_rule(const rule_key& key, const policy_rule& rule);
  std::vector<std::string> lines_of(const node_rules& rules, direction side,
                                    const rule_list& list) const;
  void collect_elements(std::string& flushed, std::string& removed, std::string& added) const;

  content wanted_, written_;
  // What a rule and a list of rules are called in the kernel, for as long as there are such.
  std::map<rule_key, std::uint64_t> rule_numbers_;
  std::map<std::pair<direction, rule_list>, std::uint64_t> chain_numbers_;
  std::uint64_t last_number_ = 0;
  std::size_t guarded_ = 0;
};

// Takes the table away, also where there is none.
std::string no_policy_table();

}  // namespace troupe::actors::policies
