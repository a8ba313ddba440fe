// The log of a container that the CRI runtime writes. The first read asks the runtime for the path
// of its file.
#pragma once

#include <memory>

#include "actors/kubelet/logs/log_file_stream.hpp"
#include "actors/kubelet/runtimes/cri/cri_client.hpp"

namespace troupe::actors {

class cri_log_stream final : public log_stream {
 public:
  // `from.id` is the runtime's id, without the prefix of its name.
  cri_log_stream(log_address from, log_query query, std::shared_ptr<cri_client> client,
                 std::shared_ptr<lazy_pool> disk)
      : state_{std::make_shared<state>(
            state{std::move(from), std::move(query), std::move(client), std::move(disk)})} {}

  void read(std::function<void(log_text)> done) override;

 private:
  // Outlives the stream while an answer is pending.
  struct state {
    const log_address from;
    const log_query query;
    const std::shared_ptr<cri_client> client;
    const std::shared_ptr<lazy_pool> disk;
    std::unique_ptr<log_file_stream> file = {};
  };
  const std::shared_ptr<state> state_;
};

}  // namespace troupe::actors
