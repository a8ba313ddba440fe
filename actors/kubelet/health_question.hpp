// What a probe or a hook asks of a container, with names of ports and addresses looked up. Pure.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>
#include <variant>
#include <vector>

#include "api/schema/core_pod.pb.h"

namespace troupe::actors {

struct exec_question {
  std::vector<std::string> command;
};

struct http_question {
  std::string host;
  int port = 0;
  std::string path = "/";
  bool tls = false;  // the certificate is not looked at
  std::vector<std::pair<std::string, std::string>> headers = {};
  // Of a hook: whatever is answered is well, and who answers in plain HTTP is asked in it.
  bool hook = false;
};

struct tcp_question {
  std::string host;
  int port = 0;
};

using health_question = std::variant<exec_question, http_question, tcp_question>;

// The error names the port that the container does not have.
tl::expected<health_question, std::string> question_of(const api::core::v1::ProbeHandler& handler,
                                                       const api::core::v1::Container& container,
                                                       const std::string& pod_ip);

// Of a hook that runs a command or sends a request; the others ask nothing.
tl::expected<health_question, std::string> question_of(
    const api::core::v1::LifecycleHandler& handler, const api::core::v1::Container& container,
    const std::string& pod_ip);

// Every probe but one by gRPC.
bool supported(const api::core::v1::Probe& probe);

// The end of a probe's or hook's question.
struct health_answer {
  enum class kind { success, failure, unknown } outcome = kind::unknown;
  std::string message = {};  // output, or what went wrong; "unknown": why it could not be asked
  int code = 0;              // of a command
};

}  // namespace troupe::actors
