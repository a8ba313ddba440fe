// Checks of paths whose file system may not answer, such as an NFS mount whose server is down. Each
// runs on a thread of its own, so that it blocks its caller, a job of a pod, for a limited time
// only.
//
// A check that is late keeps its thread until the file system answers. Until then its path is not
// checked again, and at most `kubelet_defaults::late_path_checks` paths are late at a time. Thread
// safe.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <tl/expected.hpp>

#include "actors/kubelet/defaults.hpp"

namespace troupe::actors {

// Returns the result of `check`, which accesses `path`; an error if it does not end within `limit`.
// It may end later: it must own all that it uses.
tl::expected<void, std::string> check_in_time(
    const std::string& path, std::function<tl::expected<void, std::string>()> check,
    std::chrono::milliseconds limit = kubelet_defaults::path_check_limit);

// Returns an error if the file system of `path` does not answer. A missing path is an answer.
tl::expected<void, std::string> check_answers(const std::string& path);

}  // namespace troupe::actors
