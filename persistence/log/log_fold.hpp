// Folds change records, oldest first, into what the objects must be, and says where the log
// contradicts itself or the objects. Pure.
//
// A fold of the newest part cannot judge what lies before it; a whole one is given the bases first
// and misses nothing. Bytes are compared by a 64-bit hash so that the memory needed is that of the
// keys.
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
    bool met = false;      // compare() has seen it among the objects
  };

  enum class reach { newest_part, whole_log };
  explicit log_fold(reach of) : reach_{of} {}

  // A state that the log begins from; before the first add().
  void begin_with(std::string_view key, const stored_state& base);
  void add(change_id id, const change_record& record);
  // One row of `objects`.
  void compare(std::string_view key, const stored_state& found);
  // After all rows: objects that are missing, bases that are not needed.
  void finish();

  revision last() const noexcept { return last_.at; }
  std::uint64_t records() const noexcept { return records_; }
  const state* find(std::string_view key) const;
  // At most `problem_limit` are kept.
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
