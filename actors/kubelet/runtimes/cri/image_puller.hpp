// Makes images available (kubernetes: images/image_manager.go): pull policies, few pulls at a time
// (pull_turns.hpp), and an exponential back-off after failed pulls. Belongs to the loop's thread.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "actors/kubelet/runtime/container_runtime.hpp"
#include "actors/kubelet/runtimes/cri/container_request.hpp"
#include "actors/kubelet/runtimes/cri/cri_client.hpp"
#include "actors/kubelet/runtimes/cri/pull_turns.hpp"

namespace troupe::actors {

// Returns root if the image's config names no user. Pure.
image_user user_of(const cri::Image& image);

class image_puller {
 public:
  explicit image_puller(std::shared_ptr<cri_client> client) : client_{std::move(client)} {}

  // `pulling` is called when a pull must wait for its turn or begins.
  void pull(const image_request& request, std::function<void()> pulling,
            runtime_answer<available_image> done);
  // Answers with the user that the image runs as: root if its config names none.
  void user_of(const std::string& image_ref, std::function<void(cri_result<image_user>)> done);

 private:
  struct order {
    std::string image;
    std::string ns;                            // of the pod
    std::string failures;                      // its key in `failures_`
    std::vector<cri::AuthConfig> credentials;  // credentials to try; empty: pull without any
    runtime_answer<available_image> done;
    event_loop::clock::time_point asked, begun = {};
  };
  struct failure {
    event_loop::clock::time_point again;
    std::chrono::milliseconds wait;
    std::string message;
  };

  void decide(const std::string& image, const image_request& request,
              const cri_result<cri::ImageStatusResponse>& found,
              const std::function<void()>& pulling, runtime_answer<available_image> done);
  void pull_next();
  void try_pull(order next);
  void end_pull(const order& ended, const cri_result<cri::PullImageResponse>& pulled);
  void measure(const std::string& ref, available_image::pull pull,
               runtime_answer<available_image> done);
  void remember_user(const cri::Image& image);

  const std::shared_ptr<cri_client> client_;
  std::deque<order> waiting_;
  pull_turns turns_;
  std::map<std::string, image_user> users_;  // by image id, which identifies the content
  std::map<std::string, failure> failures_;  // by pod and image, because secrets of the pod matter
};

}  // namespace troupe::actors
