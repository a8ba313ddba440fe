// The key /troupe/cluster: of which cluster the log is, and where its revisions begin.
//
// A cluster's revisions never run backwards, or clients that watch would wait for ever. But those
// of etcd begin with 1, also below a state that was copied from elsewhere, and run backwards when
// it is restored from a backup. So the cluster's revisions are those of the log and a base, which
// is raised in both cases. It never changes while control planes run: a restored etcd is another
// log, which none of them goes on with.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "persistence/replica/blocking_log.hpp"

namespace troupe::persistence {

inline constexpr std::string_view cluster_key = "/troupe/cluster";

struct cluster_record {
  std::string cluster;  // its id
  std::string log;      // shared_log::identity() of the log that the base is for
  revision base = 0;
  // A state is being copied into it, from this cluster at this revision; empty: all of it is there.
  std::string copied_from = {};
  // Objects stand in the log as kube-apiserver writes them (upstream_log.hpp). False of a log that
  // a troupe wrote which did not know how.
  bool upstream_layout = false;

  // Of the log with this base: what a copy of it on disk is marked with.
  std::string identity() const { return log + "+" + std::to_string(base); }
  bool operator==(const cluster_record& other) const = default;
};

// Lines of a word and a value. Nothing for any other text, also for one of a newer program that has
// other lines.
std::string cluster_text(const cluster_record& record);
std::optional<cluster_record> read_cluster(std::string_view text);

// As it is written there; nothing where the log holds no cluster. `invalid` for one that a newer
// program has written. Writes nothing.
expected<std::optional<cluster_record>> find_cluster(blocking_log& log);

// Of which cluster the log is. Written where it is not said yet; the base is raised where the log
// was restored from a backup. `invalid` for a log that cannot be served: half of a copy is in it,
// or a newer program has written it.
expected<cluster_record> join_cluster(blocking_log& log);

}  // namespace troupe::persistence
