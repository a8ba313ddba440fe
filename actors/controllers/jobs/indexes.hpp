// Sets of completion indexes, as status.completedIndexes and failedIndexes write them: "1,3-5".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::actors::jobs {

class index_set {
 public:
  // What makes no sense, and what is not below `limit`, is left out.
  static index_set parse(std::string_view text, std::int32_t limit);

  void insert(std::int32_t index);
  bool contains(std::int32_t index) const;
  std::int64_t size() const;
  bool empty() const noexcept { return runs_.empty(); }
  std::int64_t size_of_intersection(const index_set& other) const;
  bool includes(const index_set& other) const;

  // Three and more in a row as a range, two with a comma (upstream: orderedIntervals.String).
  std::string str() const;

 private:
  struct run {
    std::int32_t first, last;
  };
  void add(run more);

  std::vector<run> runs_;  // in order, with gaps between them
};

}  // namespace troupe::actors::jobs
