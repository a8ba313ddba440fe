// The latest write requests with their users: gives a name to a request id in the change log.
// Thread safe; bounded by `defaults::requests_kept`.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>

namespace troupe::server {

struct request_record;

struct logged_request {
  std::uint64_t id = 0;
  std::string user;
  std::string method;
  std::string path;  // without the query
  int status = 0;
  std::chrono::system_clock::time_point at;
};

class request_log {
 public:
  // For rest_options::observe; ignores reads.
  void observe(const request_record& record);
  std::optional<logged_request> find(std::uint64_t id) const;

 private:
  mutable std::mutex mutex_;
  std::deque<logged_request> requests_;
};

}  // namespace troupe::server
