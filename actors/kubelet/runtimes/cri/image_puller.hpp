// Has images ready (kubernetes: images/image_manager.go): pull policies, one pull at a time, and a
// wait after each that failed, longer each time. Belongs to the loop's thread.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "actors/kubelet/runtime/container_types.hpp"
#include "actors/kubelet/runtimes/cri/container_request.hpp"
#include "actors/kubelet/runtimes/cri/cri_client.hpp"

namespace troupe::actors {

// Root where the image's config says nothing. Pure.
image_user user_of(const cri::Image& image);

// "nginx" is "nginx:latest"; the error says why a text names no image. Pure.
tl::expected<std::string, std::string> complete_image(const std::string& image);

class image_puller {
 public:
  explicit image_puller(std::shared_ptr<cri_client> client) : client_{std::move(client)} {}

  void pull(const image_request& request, runtime_answer<std::string> done);
  // Who the image runs as: root where its config says nothing.
  void user_of(const std::string& image_ref, std::function<void(cri_result<image_user>)> done);

 private:
  struct order {
    std::string image;
    std::string failures;                      // its key in `failures_`
    std::vector<cri::AuthConfig> credentials;  // those to be tried; empty: none are shown
    runtime_answer<std::string> done;
  };
  struct failure {
    event_loop::clock::time_point again;
    std::chrono::milliseconds wait;
  };

  void decide(const std::string& image, const image_request& request,
              const cri_result<cri::ImageStatusResponse>& found, runtime_answer<std::string> done);
  void pull_next();
  void try_pull(order next);
  void end_pull(const order& ended, const cri_result<cri::PullImageResponse>& pulled);

  const std::shared_ptr<cri_client> client_;
  std::deque<order> waiting_;
  bool pulling_ = false;
  std::map<std::string, image_user> users_;  // by an image's id, which stands for its content
  std::map<std::string, failure> failures_;  // by pod and image, as its secrets decide too
};

}  // namespace troupe::actors
