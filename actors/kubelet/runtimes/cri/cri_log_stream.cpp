#include "actors/kubelet/runtimes/cri/cri_log_stream.hpp"

#include "actors/kubelet/runtimes/cri/sandbox_config.hpp"

namespace troupe::actors {

void cri_log_stream::read(std::function<void(log_text)> done) {
  if (state_->file) return state_->file->read(std::move(done));
  cri::ContainerStatusRequest ask;
  ask.set_container_id(state_->from.id);
  state_->client->runtime<cri::ContainerStatusResponse>(
      "ContainerStatus", ask, [state = state_, done](const auto& answer) {
        const auto has = [&](const char* name, const std::string& value) {
          const auto& labels = answer->status().labels();
          const auto found = labels.find(name);
          return found != labels.end() && found->second == value;
        };
        if (!answer && answer.error().code != grpc_code::not_found)
          return done({.problem = "container runtime is down: " + answer.error().message});
        // Ids come from clients: check that the container belongs to that pod.
        if (!answer || !has(cri_labels::pod_uid, state->from.pod_uid) ||
            !has(cri_labels::container_name, state->from.container))
          return done({.missing = true});
        state->file = std::make_unique<log_file_stream>(answer->status().log_path(), state->query,
                                                        state->disk);
        state->file->read(done);
      });
}

}  // namespace troupe::actors
