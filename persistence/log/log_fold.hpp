// Folds change records, oldest first, into the expected objects, and reports contradictions within
// the log and between log and objects. Pure.
//
// A fold of the newest part of the log cannot check what lies before it; a fold of the whole log
// gets the bases first and checks all. Bytes are compared by a 64-bit hash, so that memory grows
// with the keys only.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "persistence/format/record.hpp"

namespace troupe::persistence {

class log_fold {
 public:
  struct state {
    revision created = 0;
    revision modified = 0;
    std::uint64_t bytes_hash = 0;
    bool removed = false;
    bool is_base = false;  // no record has followed yet
    bool met = false;      // compare() has found it among the objects
  };

  enum class reach { newest_part, whole_log };
  explicit log_fold(reach of) : reach_{of} {}

  // Adds a state that the log begins from. Call it before the first add().
  void begin_with(std::string_view key, const stored_state& base);
  void add(change_id id, const change_record& record);
  // Checks one row of `objects`.
  void compare(std::string_view key, const stored_state& found);
  // Call it after all rows: reports missing objects and unneeded bases.
  void finish();

  revision last() const noexcept { return last_.at; }
  std::uint64_t records() const noexcept { return records_; }
  const state* find(std::string_view key) const;
  // The first `problem_limit` problems.
  const std::vector<std::string>& problems() const noexcept { return problems_; }

  static constexpr std::size_t problem_limit = 20;

 private:
  void note(std::string problem);
  void check_order(change_id id);
  void check_link(change_id id, const change_record& record, const state& before);

  const reach reach_;
  std::map<std::string, state, std::less<>> states_;
  std::optional<revision> first_;
  change_id last_;
  std::uint64_t records_ = 0;
  std::vector<std::string> problems_;
};

}  // namespace troupe::persistence
