// A server of the container runtime interface on a Unix socket, for one client at a time: it keeps
// sandboxes and containers and runs nothing. It refuses a container whose name and attempt exist,
// as containerd does.
#pragma once

#include <nghttp2/nghttp2.h>

#include <condition_variable>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "actors/kubelet/runtimes/cri/cri.pb.h"
#include "runtime/unique_fd.hpp"

namespace troupe::test {

class cri_server {
 public:
  explicit cri_server(const std::filesystem::path& socket);
  ~cri_server();

  const std::string& socket() const noexcept { return socket_; }
  // Whether the method was called, at last after a minute.
  bool await_call(const std::string& method);
  std::size_t calls(const std::string& method);
  std::vector<cri::Container> containers();
  void add(const cri::PodSandbox& sandbox);
  std::vector<cri::PodSandbox> sandboxes();
  void set_state(const std::string& container, cri::ContainerState state);
  void measure(const cri::ContainerStats& stats);
  // Images, and the path of the disk that stores them.
  void add(const cri::Image& image);
  void store_images_at(const std::string& path);
  // The path of the log of all containers.
  void log_at(const std::string& path);
  // A condition of the runtime that is false.
  void lack(const std::string& condition, const std::string& reason, const std::string& message);

  // The configuration in the verbose status, as JSON.
  void configure(const std::string& config);
  // The driver in the runtime's configuration.
  void set_driver(cri::CgroupDriver driver);
  // An image that is missing: its pull fails with the problem, or succeeds if that is empty.
  void lack_image(const std::string& image, const std::string& problem);
  void import_image(const std::string& image);

  // From now on calls of the method take effect and are answered by `answer_held`.
  void hold(const std::string& method);
  void answer_held();
  // The next call of the method takes effect, and then the connection breaks.
  void lose(const std::string& method);

 private:
  struct answer {
    std::string body = {};
    int code = 0;
    std::string message = {};
    std::size_t sent = 0;
  };
  struct call {
    std::string path, request;
  };

  void serve();
  void serve(int client);
  void finish(std::int32_t stream);
  answer handle(const std::string& method, const std::string& request);
  answer create(const std::string& request);
  answer run_sandbox(const std::string& request);
  answer change(const std::string& method, const std::string& request);
  answer pull(const std::string& request);
  void wake();

  static int on_header(nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name,
                       std::size_t name_size, const std::uint8_t* value, std::size_t value_size,
                       std::uint8_t, void* self);
  static int on_data(nghttp2_session*, std::uint8_t, std::int32_t stream, const std::uint8_t* bytes,
                     std::size_t size, void* self);
  static int on_frame(nghttp2_session*, const nghttp2_frame* frame, void* self);
  static ssize_t read_answer(nghttp2_session* session, std::int32_t stream, std::uint8_t* to,
                             std::size_t room, std::uint32_t* flags, nghttp2_data_source* source,
                             void* self);

  const std::string socket_;
  runtime::unique_fd listening_, wake_;
  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  bool stopped_ = false, release_ = false;
  std::multiset<std::string> called_;  // methods
  std::set<std::string> held_methods_;
  std::string lost_method_;
  cri::StatusResponse status_;
  cri::ListContainerStatsResponse stats_;
  std::vector<cri::PodSandbox> sandboxes_;
  std::vector<cri::Container> containers_;
  cri::ListImagesResponse images_;
  cri::ImageFsInfoResponse image_disk_;
  cri::RuntimeConfigResponse config_;
  std::map<std::string, std::string> missing_images_;  // the problems of their pulls
  std::string log_;
  // Belongs to the thread: the current connection.
  nghttp2_session* session_ = nullptr;
  bool broken_ = false;
  std::map<std::int32_t, call> open_;
  std::map<std::int32_t, answer> answers_;
  std::vector<std::int32_t> held_;
  int made_ = 0;
  std::thread thread_;
};

}  // namespace troupe::test
