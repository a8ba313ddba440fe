// Revisions that were reserved and never used, because the process was killed: there is nothing of
// them in the log, so they do not count when it is asked how much history is kept.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "persistence/error.hpp"

namespace troupe::persistence {

class revision_gaps {
 public:
  // "after-to" of each gap, in order, divided by blanks; nothing for any other text.
  static std::optional<revision_gaps> read(std::string_view text);
  std::string str() const;

  // The revisions after `after` up to `to`. Nothing after `after` was ever used: a gap that reaches
  // beyond it grows. Of more than `defaults::revision_gaps` the oldest are given up: they count as
  // history again.
  void add(revision after, revision to);
  // Those up to this one have left the log.
  void forget(revision up_to);

  // Where a log that reaches to `current` begins to be `count` revisions long; 0: it never was.
  revision before_last(revision current, revision count) const;
  // How many of the revisions after `after` up to `to` were used.
  revision used(revision after, revision to) const;

  // The revision that follows `at` when none is lost.
  revision next(revision at) const;
  // Every gap after this revision is known; older ones may have been given up.
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
