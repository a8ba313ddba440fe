// Load on an HTTP server, closed loop: each connection (each stream of it, over HTTP/2) asks, waits
// for the whole answer, asks again. Made to cost little, since it shares the machine with the
// server.
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
  // PEM texts; the server's certificate is not checked, that is no part of the load.
  std::string certificate;
  std::string private_key;
  std::string bearer_token;
  bool http2 = false;
  std::size_t connections = 32;
  std::size_t streams = 1;  // at once on each connection; HTTP/1.1 has one
  std::size_t threads = 1;
  // The load ends after that time, or after so many requests (0: no limit).
  std::chrono::milliseconds duration{5000};
  std::uint64_t requests = 0;
  // The n-th request, n from 0; called on the load's threads, two at a time if there are two.
  std::function<load_request(std::uint64_t n)> next = [](std::uint64_t) { return load_request{}; };
};

struct load_result {
  std::uint64_t answers = 0;
  std::uint64_t refused = 0;  // of them, status 400 and above
  std::uint64_t bytes = 0;    // of bodies
  double seconds = 0;
  std::vector<std::uint32_t> latencies_us;  // sorted, one for each answer

  double per_second() const { return seconds > 0 ? static_cast<double>(answers) / seconds : 0; }
  // In microseconds; 0 when there was no answer. `percent` from 0 to 100.
  std::uint32_t percentile(double percent) const;
};

// Blocks until the load is over. The error says which connection failed and why: a load of which a
// part is missing is no measurement.
tl::expected<load_result, std::string> run_load(const load_options& options);

// One line: rate, percentiles, refusals.
std::string to_string(const load_result& result);

}  // namespace troupe::bench
