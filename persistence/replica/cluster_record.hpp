// The key /troupe/cluster: the cluster's id, and the base of its revisions.
//
// A cluster's revisions must never run backwards, or watching clients would wait for ever. But
// etcd's begin with 1, even if the state was copied from a store with higher ones, and run
// backwards when etcd is restored from a backup. So a cluster's revision is the log's revision plus
// a base, which is raised in both cases. The base never changes while control planes run: a
// restored etcd is a different log, with which none of them continues.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "persistence/replica/blocking_log.hpp"

namespace troupe::persistence {

inline constexpr std::string_view cluster_key = "/troupe/cluster";

struct cluster_record {
  std::string cluster;  // id of the cluster
  std::string log;      // shared_log::identity() of the log that the base is for
  revision base = 0;
  // The cluster and revision of a state that is being copied here; empty: the state is complete.
  std::string copied_from = {};
  // Objects are stored as kube-apiserver writes them (upstream_log.hpp). False if the log was
  // written by an old version of Troupe without this layout.
  bool upstream_layout = false;

  // The identity of the log with this base; a replica on disk is marked with it.
  std::string identity() const { return log + "+" + std::to_string(base); }
  bool operator==(const cluster_record& other) const = default;
};

// Lines of a word and a value. Returns nullopt for any other text, also for that of a newer program
// with more lines.
std::string cluster_text(const cluster_record& record);
std::optional<cluster_record> read_cluster(std::string_view text);

// Reads the record; nullopt if the log holds no cluster. Fails with `invalid` if a newer program
// has written it. Writes nothing.
expected<std::optional<cluster_record>> find_cluster(blocking_log& log);

// Reads the record, or writes it if there is none. Raises the base if the log was restored from a
// backup. Fails with `invalid` for a log that cannot be served: a copy into it is incomplete, or a
// newer program has written the record.
expected<cluster_record> join_cluster(blocking_log& log);

}  // namespace troupe::persistence
