#include "actors/kubelet/cri/cri_server.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace troupe::test {

namespace {

constexpr std::size_t prefix_bytes = 5;  // of a message: compressed flag, length
constexpr int unknown = 2, not_found = 5, no_such_method = 12;

nghttp2_nv field(const char* name, const std::string& value) {
  const auto bytes = [](const char* text) {
    return reinterpret_cast<std::uint8_t*>(const_cast<char*>(text));
  };
  return {bytes(name), bytes(value.c_str()), std::strlen(name), value.size(), NGHTTP2_NV_FLAG_NONE};
}

std::string with_prefix(const std::string& message) {
  std::string out{'\0'};
  for (int shift = 24; shift >= 0; shift -= 8)
    out += static_cast<char>(message.size() >> shift);
  return out + message;
}

template <class Message>
Message parsed(const std::string& bytes) {
  Message message;
  message.ParseFromString(bytes);
  return message;
}

}  // namespace

cri_server::cri_server(const std::filesystem::path& socket)
    : socket_{socket.string()},
      listening_{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)},
      wake_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)} {
  sockaddr_un at{};
  at.sun_family = AF_UNIX;
  std::strncpy(at.sun_path, socket_.c_str(), sizeof at.sun_path - 1);
  if (::bind(listening_.get(), reinterpret_cast<sockaddr*>(&at), sizeof at) != 0 ||
      ::listen(listening_.get(), 8) != 0)
    throw std::runtime_error{"cannot listen at " + socket_};
  thread_ = std::thread{[this] { serve(); }};
}

cri_server::~cri_server() {
  {
    const std::lock_guard lock{mutex_};
    stopped_ = true;
  }
  wake();
  thread_.join();
}

void cri_server::wake() {
  const std::uint64_t one = 1;
  static_cast<void>(!::write(wake_.get(), &one, sizeof one));
}

bool cri_server::await_call(const std::string& method) {
  std::unique_lock lock{mutex_};
  return changed_.wait_for(lock, std::chrono::minutes{1}, [&] { return called_.contains(method); });
}

std::size_t cri_server::calls(const std::string& method) {
  const std::lock_guard lock{mutex_};
  return called_.count(method);
}

std::vector<cri::Container> cri_server::containers() {
  const std::lock_guard lock{mutex_};
  return containers_;
}

void cri_server::add(const cri::PodSandbox& sandbox) {
  const std::lock_guard lock{mutex_};
  sandboxes_.push_back(sandbox);
}

std::vector<cri::PodSandbox> cri_server::sandboxes() {
  const std::lock_guard lock{mutex_};
  return sandboxes_;
}

void cri_server::set_state(const std::string& container, cri::ContainerState state) {
  const std::lock_guard lock{mutex_};
  for (auto& each : containers_)
    if (each.id() == container) each.set_state(state);
}

void cri_server::measure(const cri::ContainerStats& stats) {
  const std::lock_guard lock{mutex_};
  *stats_.add_stats() = stats;
}

void cri_server::add(const cri::Image& image) {
  const std::lock_guard lock{mutex_};
  *images_.add_images() = image;
}

void cri_server::store_images_at(const std::string& path) {
  const std::lock_guard lock{mutex_};
  image_disk_.Clear();
  image_disk_.add_image_filesystems()->mutable_fs_id()->set_mountpoint(path);
}

void cri_server::log_at(const std::string& path) {
  const std::lock_guard lock{mutex_};
  log_ = path;
}

void cri_server::lack(const std::string& condition, const std::string& reason,
                      const std::string& message) {
  const std::lock_guard lock{mutex_};
  auto& added = *status_.mutable_status()->add_conditions();
  added.set_type(condition);
  added.set_reason(reason);
  added.set_message(message);
}

void cri_server::configure(const std::string& config) {
  const std::lock_guard lock{mutex_};
  (*status_.mutable_info())["config"] = config;
}

void cri_server::set_driver(cri::CgroupDriver driver) {
  const std::lock_guard lock{mutex_};
  config_.mutable_linux()->set_cgroup_driver(driver);
}

void cri_server::lack_image(const std::string& image, const std::string& problem) {
  const std::lock_guard lock{mutex_};
  missing_images_[image] = problem;
}

void cri_server::import_image(const std::string& image) {
  const std::lock_guard lock{mutex_};
  missing_images_.erase(image);
}

void cri_server::hold(const std::string& method) {
  const std::lock_guard lock{mutex_};
  held_methods_.insert(method);
}

void cri_server::answer_held() {
  {
    const std::lock_guard lock{mutex_};
    release_ = true;
    held_methods_.clear();
  }
  wake();
}

void cri_server::lose(const std::string& method) {
  const std::lock_guard lock{mutex_};
  lost_method_ = method;
}

// -- the connection -------------------------------------------------------------------------------

void cri_server::serve() {
  for (;;) {
    {
      // A connection may have taken the wake-up.
      const std::lock_guard lock{mutex_};
      if (stopped_) return;
    }
    pollfd both[] = {{listening_.get(), POLLIN, 0}, {wake_.get(), POLLIN, 0}};
    ::poll(both, 2, -1);
    if (both[0].revents == 0) continue;
    const runtime::unique_fd client{::accept4(listening_.get(), nullptr, nullptr, SOCK_CLOEXEC)};
    if (client) serve(client.get());
  }
}

void cri_server::serve(int client) {
  nghttp2_session_callbacks* callbacks = nullptr;
  nghttp2_session_callbacks_new(&callbacks);
  nghttp2_session_callbacks_set_on_header_callback(callbacks, &on_header);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, &on_data);
  nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, &on_frame);
  nghttp2_session_server_new(&session_, callbacks, this);
  nghttp2_session_callbacks_del(callbacks);
  nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, nullptr, 0);
  broken_ = false;
  while (!broken_) {
    const std::uint8_t* bytes = nullptr;
    for (ssize_t n = 0; (n = nghttp2_session_mem_send(session_, &bytes)) > 0;)
      ::send(client, bytes, static_cast<std::size_t>(n), MSG_NOSIGNAL);
    pollfd both[] = {{client, POLLIN, 0}, {wake_.get(), POLLIN, 0}};
    ::poll(both, 2, -1);
    if (both[1].revents != 0) {
      std::uint64_t count = 0;
      static_cast<void>(!::read(wake_.get(), &count, sizeof count));
      std::unique_lock lock{mutex_};
      if (stopped_) break;
      const bool release = std::exchange(release_, false);
      lock.unlock();
      if (release)
        for (const auto stream : std::exchange(held_, {}))
          finish(stream);
    }
    if (both[0].revents == 0) continue;
    std::uint8_t part[16 << 10];
    const auto n = ::recv(client, part, sizeof part, 0);
    if (n <= 0 || nghttp2_session_mem_recv(session_, part, static_cast<std::size_t>(n)) < 0) break;
  }
  nghttp2_session_del(std::exchange(session_, nullptr));
  open_.clear();
  answers_.clear();
  held_.clear();
}

// Handles a whole request, and sends the answer.
void cri_server::finish(std::int32_t stream) {
  const auto request = open_.extract(stream);
  const auto& path = request.mapped().path;
  const auto method = path.substr(path.rfind('/') + 1);
  answers_[stream] = handle(method, request.mapped().request.substr(prefix_bytes));
  {
    const std::lock_guard lock{mutex_};
    broken_ |= method == lost_method_;
    if (broken_) return lost_method_.clear();
  }
  const std::string ok = "200", type = "application/grpc";
  const nghttp2_nv head[] = {field(":status", ok), field("content-type", type)};
  const nghttp2_data_provider body{{}, &read_answer};
  nghttp2_submit_response(session_, stream, head, 2, &body);
}

int cri_server::on_header(nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name,
                          std::size_t name_size, const std::uint8_t* value, std::size_t value_size,
                          std::uint8_t, void* self) {
  if (std::string_view{reinterpret_cast<const char*>(name), name_size} == ":path")
    static_cast<cri_server*>(self)->open_[frame->hd.stream_id].path.assign(
        reinterpret_cast<const char*>(value), value_size);
  return 0;
}

int cri_server::on_data(nghttp2_session*, std::uint8_t, std::int32_t stream,
                        const std::uint8_t* bytes, std::size_t size, void* self) {
  static_cast<cri_server*>(self)->open_[stream].request.append(reinterpret_cast<const char*>(bytes),
                                                               size);
  return 0;
}

int cri_server::on_frame(nghttp2_session*, const nghttp2_frame* frame, void* context) {
  auto& self = *static_cast<cri_server*>(context);
  // In other frames the flag has another meaning.
  if (frame->hd.type != NGHTTP2_DATA || (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) == 0) return 0;
  const auto stream = frame->hd.stream_id;
  const auto& path = self.open_[stream].path;
  const auto method = path.substr(path.rfind('/') + 1);
  std::unique_lock lock{self.mutex_};
  self.called_.insert(method);
  self.changed_.notify_all();
  const bool held = self.held_methods_.contains(method);
  lock.unlock();
  if (held)
    self.held_.push_back(stream);
  else
    self.finish(stream);
  return 0;
}

ssize_t cri_server::read_answer(nghttp2_session* session, std::int32_t stream, std::uint8_t* to,
                                std::size_t room, std::uint32_t* flags, nghttp2_data_source*,
                                void* self) {
  auto& answer = static_cast<cri_server*>(self)->answers_[stream];
  const auto n = std::min(room, answer.body.size() - answer.sent);
  std::memcpy(to, answer.body.data() + answer.sent, n);
  answer.sent += n;
  if (answer.sent < answer.body.size()) return static_cast<ssize_t>(n);
  *flags |= NGHTTP2_DATA_FLAG_EOF | NGHTTP2_DATA_FLAG_NO_END_STREAM;
  const auto code = std::to_string(answer.code);
  const nghttp2_nv trailer[] = {field("grpc-status", code), field("grpc-message", answer.message)};
  nghttp2_submit_trailer(session, stream, trailer, 2);
  return static_cast<ssize_t>(n);
}

// -- the runtime ----------------------------------------------------------------------------------

cri_server::answer cri_server::handle(const std::string& method, const std::string& request) {
  const auto reply = [](const auto& message) {
    return answer{with_prefix(message.SerializeAsString())};
  };
  const std::lock_guard lock{mutex_};
  if (method == "CreateContainer") return create(request);
  if (method.ends_with("Container") || method == "ContainerStatus") return change(method, request);
  if (method == "Version") {
    cri::VersionResponse version;
    version.set_runtime_name("fake");
    return reply(version);
  }
  if (method == "Status") return reply(status_);
  if (method == "ListContainerStats") return reply(stats_);
  if (method == "RunPodSandbox") return run_sandbox(request);
  if (method.ends_with("PodSandbox") && !method.starts_with("List")) {
    const auto id = parsed<cri::PodSandboxId>(request).pod_sandbox_id();
    for (auto& each : sandboxes_)
      if (each.id() == id) each.set_state(cri::SANDBOX_NOTREADY);
    if (method == "RemovePodSandbox")
      std::erase_if(sandboxes_, [&](const auto& each) { return each.id() == id; });
    return reply(cri::Nothing{});
  }
  if (method == "ListPodSandbox") {
    cri::ListPodSandboxResponse all;
    all.mutable_items()->Assign(sandboxes_.begin(), sandboxes_.end());
    return reply(all);
  }
  if (method == "ListContainers") {
    cri::ListContainersResponse all;
    all.mutable_containers()->Assign(containers_.begin(), containers_.end());
    return reply(all);
  }
  if (method == "PodSandboxStatus") {
    cri::PodSandboxStatusResponse status;
    status.mutable_status()->set_state(cri::SANDBOX_READY);
    return reply(status);
  }
  if (method == "ListImages") return reply(images_);
  if (method == "ImageFsInfo") return reply(image_disk_);
  if (method == "ImageStatus") {
    cri::ImageStatusResponse status;
    if (!missing_images_.contains(parsed<cri::ImageStatusRequest>(request).image().image()))
      status.mutable_image()->set_id("image");
    return reply(status);
  }
  if (method == "PullImage") return pull(request);
  if (method == "RuntimeConfig") {
    if (!config_.has_linux()) return {{}, no_such_method, "unknown method RuntimeConfig"};
    return reply(config_);
  }
  if (method == "Subscribe") return {{}, no_such_method, "unknown service"};
  return reply(cri::Nothing{});
}

cri_server::answer cri_server::create(const std::string& bytes) {
  const auto request = parsed<cri::CreateContainerRequest>(bytes);
  const auto& metadata = request.config().metadata();
  for (const auto& each : containers_)
    if (each.metadata().SerializeAsString() == metadata.SerializeAsString())
      return {{}, unknown, "the name is reserved for " + each.id()};
  auto& made = containers_.emplace_back();
  made.set_id(fmt::format("c{}", ++made_));
  made.set_pod_sandbox_id(request.pod_sandbox_id());
  *made.mutable_metadata() = metadata;
  *made.mutable_labels() = request.config().labels();
  cri::ContainerId id;
  id.set_container_id(made.id());
  return {with_prefix(id.SerializeAsString())};
}

cri_server::answer cri_server::pull(const std::string& bytes) {
  const auto image = parsed<cri::PullImageRequest>(bytes).image().image();
  const auto missing = missing_images_.find(image);
  if (missing != missing_images_.end() && !missing->second.empty())
    return {{}, unknown, missing->second};
  missing_images_.erase(image);
  cri::PullImageResponse pulled;
  pulled.set_image_ref(image);
  return {with_prefix(pulled.SerializeAsString())};
}

cri_server::answer cri_server::run_sandbox(const std::string& bytes) {
  const auto request = parsed<cri::RunPodSandboxRequest>(bytes);
  cri::PodSandboxId id;
  id.set_pod_sandbox_id("s" + std::to_string(sandboxes_.size() + 1));
  auto& made = sandboxes_.emplace_back();
  made.set_id(id.pod_sandbox_id());
  *made.mutable_metadata() = request.config().metadata();
  return {with_prefix(id.SerializeAsString())};
}

// A call that names a container.
cri_server::answer cri_server::change(const std::string& method, const std::string& bytes) {
  const auto id = parsed<cri::ContainerId>(bytes).container_id();
  const auto found = std::find_if(containers_.begin(), containers_.end(),
                                  [&](const auto& each) { return each.id() == id; });
  if (found == containers_.end()) return {{}, not_found, "no container " + id};
  cri::ContainerStatusResponse status;
  if (method == "ContainerStatus") {
    status.mutable_status()->set_state(found->state());
    status.mutable_status()->set_log_path(log_);
  }
  if (method == "StartContainer") found->set_state(cri::RUNNING);
  if (method == "StopContainer") found->set_state(cri::EXITED);
  if (method == "RemoveContainer") containers_.erase(found);
  return {with_prefix(status.SerializeAsString())};
}

}  // namespace troupe::test
