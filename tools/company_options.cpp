#include "tools/company_options.hpp"

#include <random>

namespace troupe::tools {

runtime::system_options company_options(const config::runtime_config& from) {
  runtime::system_options options;
  options.threads = static_cast<std::size_t>(from.worker_threads);
  options.observe = from.observation == config::observation::on;
  std::random_device source;
  options.seed = (std::uint64_t{source()} << 32) | source();
  return options;
}

actors::node_timing timing_of(const config::kubelet_config& from) {
  return {.lease_duration = from.lease_duration,
          .lease_renewal = from.lease_renew,
          .report_period = from.status_period};
}

}  // namespace troupe::tools
