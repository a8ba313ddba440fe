// Generates nft scripts for the table of one family, `ip troupe-policy` or `ip6 troupe-policy`, of
// one node, as a whole or as a difference to the last script, which the first one is not. New and
// deleted pods change set elements; a rule is rewritten only if its policy changes. Other tables
// are not touched. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "actors/network/policies/policy_rules.hpp"

namespace troupe::actors::policies {

class policy_table {
 public:
  explicit policy_table(const address_family& family = services::family_v4) : family_{&family} {
    want({&family});
  }

  // Sets the desired rules.
  void want(const node_rules& rules);

  // Script that replaces the table in one transaction: traffic sees the old or the new rules.
  std::string whole();
  // Script with the changes since the last script, the whole table before that; empty: none.
  std::string difference();
  // Script that changes nothing and fails if the table does not exist; empty before the first
  // script.
  std::string probe() const;
  // The number of pods of this node isolated in a direction, and the number of rules.
  std::size_t guarded() const { return guarded_; }
  std::size_t rules() const { return rule_numbers_.size(); }

 private:
  struct collection {
    std::string type;  // with flags, as in nft's declaration
    bool map = false, interval = false;
    std::map<std::string, std::string> elements = {};  // the value is the data of a map element
  };
  struct content {
    std::map<std::string, collection> collections;
    std::map<std::string, std::vector<std::string>> chains;  // with their rules
  };

  std::string changes();
  void add_rule(const rule_key& key, const policy_rule& rule);
  std::vector<std::string> lines_of(const node_rules& rules, direction side,
                                    const rule_list& list) const;
  void collect_elements(std::string& flushed, std::string& removed, std::string& added) const;

  const address_family* family_;
  content wanted_, written_;
  bool created_ = false;
  // The numbers in the kernel's names of rules and lists of rules, constant while these exist.
  std::map<rule_key, std::uint64_t> rule_numbers_;
  std::map<std::pair<direction, rule_list>, std::uint64_t> chain_numbers_;
  std::uint64_t last_number_ = 0;
  std::size_t guarded_ = 0;
};

// Script that removes the table if it exists.
std::string no_policy_table(const address_family& family);

}  // namespace troupe::actors::policies
