// Load on an HTTP server, closed loop: each connection (over HTTP/2 each stream) sends a request,
// waits for the whole response, and repeats. Uses little CPU, because it shares the machine with
// the server.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

namespace troupe::bench {

struct load_request {
  std::string method = "GET";
  std::string path = "/";
  std::string body;
  std::string content_type;
};

struct load_options {
  std::string host = "127.0.0.1";  // a literal IPv4 address
  std::uint16_t port = 0;
  bool tls = true;
  // PEM texts. The server's certificate is not checked: the check is not part of the load.
  std::string certificate;
  std::string private_key;
  std::string bearer_token;
  bool http2 = false;
  std::size_t connections = 32;
  std::size_t streams = 1;  // concurrent ones on each connection; HTTP/1.1 has one
  std::size_t threads = 1;
  // The load ends after this time, or after this many requests (0: no limit).
  std::chrono::milliseconds duration{5000};
  std::uint64_t requests = 0;
  // Makes the n-th request, n from 0; called on the load's threads, concurrently if there are two.
  std::function<load_request(std::uint64_t n)> next = [](std::uint64_t) { return load_request{}; };
};

struct load_result {
  std::uint64_t answers = 0;
  std::uint64_t refused = 0;  // responses with status 400 and above
  std::uint64_t bytes = 0;    // of response bodies
  double seconds = 0;
  std::vector<std::uint32_t> latencies_us;  // sorted, one for each response

  double per_second() const { return seconds > 0 ? static_cast<double>(answers) / seconds : 0; }
  // In microseconds; 0 if there was no response. `percent` from 0 to 100.
  std::uint32_t percentile(double percent) const;
};

// Blocks until the load is over. The error names the failed connection and the reason: an
// incomplete load is no measurement.
tl::expected<load_result, std::string> run_load(const load_options& options);

// One line: rate, percentiles, number of refused requests.
std::string to_string(const load_result& result);

}  // namespace troupe::bench
