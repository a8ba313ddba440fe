// Sets of completion indexes in the format of status.completedIndexes and failedIndexes: "1,3-5".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::actors::jobs {

class index_set {
 public:
  // Skips invalid parts and indexes that are not below `limit`.
  static index_set parse(std::string_view text, std::int32_t limit);

  void insert(std::int32_t index);
  bool contains(std::int32_t index) const { return first_absent(index) != index; }
  // The first index from `from` on that is not in the set.
  std::int64_t first_absent(std::int64_t from) const;
  std::int64_t size() const;
  bool empty() const noexcept { return runs_.empty(); }
  std::int64_t size_of_intersection(const index_set& other) const;
  bool includes(const index_set& other) const;

  // Three or more in a row are a range, two are listed (upstream: orderedIntervals.String).
  std::string str() const;

 private:
  struct run {
    std::int32_t first, last;
  };
  void add(run more);

  std::vector<run> runs_;  // in order, with gaps between them
};

}  // namespace troupe::actors::jobs
