// The controller of one Deployment: rolls its pods over to a ReplicaSet of the current template.
//
// A sync plans one batch of transactions with pure functions (rolling.hpp, deployment_view.hpp,
// deployment_status.hpp), sends it, and ends when all are answered; the resulting events trigger
// the next sync. Each write has the state that it was planned from as its precondition, so a plan
// from stale state fails and is repeated (reconciler.hpp).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "actors/controllers/deployments/deployment_status.hpp"
#include "actors/controllers/deployments/deployment_view.hpp"
#include "actors/controllers/kit/reconciler.hpp"

namespace troupe::actors::deployments {

class deployment_controller : public reconciler {
 public:
  using reconciler::reconciler;
  std::string describe() const override;

 private:
  void owner_changed() override;
  void sync() override;
  void after_sync() override;

  void note_pause();
  // Each returns true if it sent a write: the rest then waits for the next sync.
  bool keep_revision(const set_family& family);
  bool scale_family(const set_family& family);
  bool roll(const set_family& family);
  bool recreate(const set_family& family);
  bool make_new_set(const set_family& family);
  // Records the failure as an event, and returns the message for the status.
  std::string record_failed_set(const std::string& name, const std::string& problem);
  bool resize_set(const set_view& set, std::int32_t size);
  void clean_up(const set_family& family);
  void report(const set_family& family);
  void record_scaled(const char* direction, const std::string& name, std::int32_t from,
                     std::int32_t to);
  void log_progress(const api::apps::v1::DeploymentStatus& before,
                    const api::apps::v1::DeploymentStatus& now) const;
  bool pods_left(const set_family& family) const;

  std::optional<deployment_view> deployment_;
  bool collided_ = false;   // another template has the new set's name
  bool pods_left_ = false;  // of sets scaled to 0: check again soon
  std::optional<progress_note> note_;
  std::optional<std::string> failure_;
  std::optional<std::string> refused_;  // for the next sync
};

}  // namespace troupe::actors::deployments
