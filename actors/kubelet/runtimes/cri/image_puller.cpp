#include "actors/kubelet/runtimes/cri/image_puller.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "actors/kubelet/runtimes/cri/image_name.hpp"
#include "actors/kubelet/runtimes/cri/pull_secrets.hpp"
#include "api/schema/meta_object.pb.h"

namespace troupe::actors {

namespace {

tl::unexpected<runtime_error> refused(const char* reason, std::string message) {
  return tl::make_unexpected(
      runtime_error{runtime_error::kind::refused, std::move(message), reason});
}

}  // namespace

void image_puller::pull(const image_request& request, std::function<void()> pulling,
                        runtime_answer<available_image> done) {
  const auto image = complete_image(request.spec->image());
  if (!image) return done(refused("InvalidImageName", image.error()));
  cri::ImageStatusRequest ask;
  ask.mutable_image()->set_image(*image);
  client_->images<cri::ImageStatusResponse>(
      "ImageStatus", ask, [this, image = *image, request, pulling, done](const auto& found) {
        decide(image, request, found, pulling, done);
      });
}

void image_puller::decide(const std::string& image, const image_request& request,
                          const cri_result<cri::ImageStatusResponse>& found,
                          const std::function<void()>& pulling,
                          runtime_answer<available_image> done) {
  const auto& name = request.spec->image();
  if (!found)
    return done(refused("ImageInspectError", fmt::format("Failed to inspect image \"{}\": {}", name,
                                                         found.error().message)));
  const auto& policy = request.spec->image_pull_policy();
  const bool present = found->has_image();
  if (policy == "Never" && !present)
    return done(refused(
        "ErrImageNeverPull",
        fmt::format("Container image \"{}\" is not present with pull policy of Never", name)));
  if (present && policy != "Always") {
    remember_user(found->image());
    return done(available_image{found->image().id()});
  }
  const auto key = request.pod->meta().uid() + '_' + image;
  const auto failed = failures_.find(key);
  if (failed != failures_.end() && failed->second.again > event_loop::clock::now())
    return done(
        refused("ImagePullBackOff", fmt::format("Back-off pulling image \"{}\": ErrImagePull: {}",
                                                name, failed->second.message)));
  if (waiting_.size() >= cri_defaults::waiting_pulls)
    return done(refused("ErrImagePull", "too many images wait to be pulled"));
  auto credentials = pull_credentials(image, request.secrets);
  if (!credentials) return done(refused("ErrImagePull", credentials.error()));
  pulling();
  waiting_.push_back({.image = image,
                      .ns = request.pod->meta().namespace_(),
                      .failures = key,
                      .credentials = std::move(*credentials),
                      .done = std::move(done),
                      .asked = event_loop::clock::now()});
  pull_next();
}

void image_puller::pull_next() {
  const auto found = std::find_if(waiting_.begin(), waiting_.end(),
                                  [&](const order& each) { return turns_.is_free(each.ns); });
  if (found == waiting_.end()) return;
  auto next = std::move(*found);
  waiting_.erase(found);
  turns_.take(next.ns);
  next.begun = event_loop::clock::now();
  try_pull(std::move(next));
  pull_next();
}

// Tries one credential after another.
void image_puller::try_pull(order next) {
  cri::PullImageRequest request;
  request.mutable_image()->set_image(next.image);
  if (!next.credentials.empty()) {
    *request.mutable_auth() = std::move(next.credentials.front());
    next.credentials.erase(next.credentials.begin());
  }
  client_->images<cri::PullImageResponse>(
      "PullImage", request,
      [this, next](const auto& pulled) {
        if (!pulled && !next.credentials.empty()) return try_pull(next);
        end_pull(next, pulled);
      },
      cri_defaults::pull_timeout);
}

void image_puller::end_pull(const order& ended, const cri_result<cri::PullImageResponse>& pulled) {
  turns_.release(ended.ns);
  const auto now = event_loop::clock::now();
  if (pulled) {
    failures_.erase(ended.failures);
    const auto since = [&](auto start) {
      return std::chrono::floor<std::chrono::milliseconds>(now - start);
    };
    measure(pulled->image_ref(), {since(ended.begun), since(ended.asked)}, ended.done);
  } else {
    if (failures_.size() >= cri_defaults::failed_pulls) failures_.erase(failures_.begin());
    auto& failed = failures_[ended.failures];
    failed.wait = std::clamp<std::chrono::milliseconds>(
        failed.wait * 2, cri_defaults::pull_backoff_first, cri_defaults::pull_backoff_longest);
    failed.again = now + failed.wait;
    // kubernetes: cri-client/pkg/remote_image.go, PullImage.
    const auto& error = pulled.error();
    failed.message = error.code == grpc_code::unknown ? error.message : text_of(error);
    ended.done(refused("ErrImagePull", failed.message));
  }
  pull_next();
}

// The image is usable even if its size cannot be read.
void image_puller::measure(const std::string& ref, available_image::pull pull,
                           runtime_answer<available_image> done) {
  cri::ImageStatusRequest ask;
  ask.mutable_image()->set_image(ref);
  client_->images<cri::ImageStatusResponse>(
      "ImageStatus", ask, [this, made = available_image{ref, pull}, done](const auto& found) {
        auto image = made;
        if (found && found->has_image()) {
          image.pulled->size_bytes = static_cast<std::int64_t>(found->image().size());
          remember_user(found->image());
        }
        done(std::move(image));
      });
}

void image_puller::remember_user(const cri::Image& image) {
  if (users_.size() >= cri_defaults::known_users) users_.clear();
  users_[image.id()] = actors::user_of(image);
}

image_user user_of(const cri::Image& image) {
  image_user user{.uid = std::nullopt, .name = image.username()};
  if (image.has_uid())
    user.uid = image.uid().value();
  else if (user.name.empty())
    user.uid = 0;
  return user;
}

void image_puller::user_of(const std::string& image_ref,
                           std::function<void(cri_result<image_user>)> done) {
  if (const auto known = users_.find(image_ref); known != users_.end()) return done(known->second);
  cri::ImageStatusRequest ask;
  ask.mutable_image()->set_image(image_ref);
  client_->images<cri::ImageStatusResponse>("ImageStatus", ask, [done](const auto& found) {
    if (!found) return done(tl::make_unexpected(found.error()));
    if (!found->has_image())
      return done(tl::make_unexpected(grpc_error{grpc_code::not_found, "the image has gone"}));
    done(actors::user_of(found->image()));
  });
}

}  // namespace troupe::actors
