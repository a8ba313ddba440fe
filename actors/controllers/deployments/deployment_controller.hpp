// One Deployment: keeps a ReplicaSet for the present template and moves the pods over to it.
//
// A sync decides one batch of transactions with the pure rules (rolling.hpp, deployment_view.hpp,
// deployment_status.hpp), sends it, and ends when all are answered; what the writes bring about
// wakes the next sync. Each write has the state that it was decided on as its precondition, so a
// decision on stale knowledge fails and is made again (reconciler.hpp).
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
  // Each answers whether it sent anything: then the rest waits for the next sync.
  bool keep_revision(const set_family& family);
  bool scale_family(const set_family& family);
  bool roll(const set_family& family);
  bool recreate(const set_family& family);
  bool make_new_set(const set_family& family);
  // Tells it, and returns what is to be said in the status.
  std::string tell_failed_set(const std::string& name, const std::string& problem);
  bool resize_set(const set_view& set, std::int32_t size);
  void clean_up(const set_family& family);
  void report(const set_family& family);
  void tell_scaled(const char* direction, const std::string& name, std::int32_t from,
                   std::int32_t to);
  void tell_progress(const api::apps::v1::DeploymentStatus& before,
                     const api::apps::v1::DeploymentStatus& now) const;
  bool pods_left(const set_family& family) const;

  std::optional<deployment_view> deployment_;
  bool collided_ = false;   // the new set's name was taken by another template
  bool pods_left_ = false;  // of sets that are to have none: look again soon
  std::optional<progress_note> note_;
  std::optional<std::string> failure_;
  std::optional<std::string> refused_;  // for the next sync
};

}  // namespace troupe::actors::deployments
