// Revisions that were reserved but never used, because the process was killed. The log has no
// records of them, so they do not count as history.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "persistence/error.hpp"

namespace troupe::persistence {

class revision_gaps {
 public:
  // Parses "after-to" pairs in order, separated by blanks. Returns nullopt for any other text.
  static std::optional<revision_gaps> read(std::string_view text);
  std::string str() const;

  // Adds the gap (after, to]. No revision after `after` was used: a gap that reaches beyond `after`
  // grows. If there are more than `defaults::revision_gaps`, the oldest are dropped and count as
  // history again.
  void add(revision after, revision to);
  // Removes the gaps up to this revision: they have left the log.
  void forget(revision up_to);

  // The revision after which `count` revisions up to `current` were used; 0 if fewer were
  // used.
  revision before_last(revision current, revision count) const;
  // The number of used revisions in (after, to].
  revision used(revision after, revision to) const;

  // The revision that must follow `at` if no record is lost.
  revision next(revision at) const;
  // All gaps after this revision are known; older ones may have been dropped.
  revision known_from() const;

  bool operator==(const revision_gaps& other) const = default;

 private:
  struct gap {
    revision after, to;
    bool operator==(const gap& other) const = default;
  };
  std::vector<gap> gaps_;
};

}  // namespace troupe::persistence
