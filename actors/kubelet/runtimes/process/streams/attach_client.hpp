// An attachment to a container as a stream: the kubelet's end of attach_packets.hpp. Thread safe;
// all of it happens on the thread of the loop. The shim is a process of our own, but what comes
// from its socket is checked: what makes no sense ends the stream.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "actors/kubelet/os/event_loop.hpp"
#include "actors/kubelet/runtime/streams.hpp"

namespace troupe::actors {

struct attach_target {
  std::string name;                 // for errors
  std::filesystem::path directory;  // of the container
  // The connection ended without a word: the code of the container's end, nothing while it runs.
  std::function<std::optional<int>()> code_of_end;
};

// The code of a stream that was cut off while the container runs; its last bytes say so. (docker:
// 125 is for errors of its own.)
constexpr int attach_cut_off = 125;

// Answered when the shim has taken it: what the container writes from then on comes. Errors:
// `not_found` where the container has just ended, `failed` where its shim does not answer within
// `kubelet_defaults::attach_patience` or has as many attached as may be, or is of an earlier
// program that had no attachments.
//
// The stream: `write` answers when the shim has it, false where the container takes no input.
// `close_input` ends the container's input if it has stdinOnce, and otherwise only this side's. A
// reader that falls behind by more than the shim keeps is cut off.
void open_attachment(std::shared_ptr<event_loop> loop, attach_target target,
                     const exec_request& request,
                     runtime_answer<std::unique_ptr<exec_stream>> done);

}  // namespace troupe::actors
