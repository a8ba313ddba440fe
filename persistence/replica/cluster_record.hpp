// The key /troupe/cluster: the cluster's id, the base of its revisions, and the format of what
// control planes write into the log.
//
// A cluster's revisions must never run backwards, or watching clients would wait for ever. But
// etcd's begin with 1, even if the state was copied from a store with higher ones, and run
// backwards when etcd is restored from a backup. So a cluster's revision is the log's revision plus
// a base, which is raised in both cases. Control planes with the old base do not go on
// (restored_log.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "persistence/replica/blocking_log.hpp"

namespace troupe::persistence {

inline constexpr std::string_view cluster_key = "/troupe/cluster";

// The formats that this program can read and write. A change that the previous version cannot read
// needs a new one, which is used only after a version that knows both has been released: so
// neighbouring versions serve together (docs/several-control-planes.md).
inline constexpr std::uint64_t oldest_log_format = 1;
inline constexpr std::uint64_t newest_log_format = 1;

struct cluster_record {
  std::string cluster;  // id of the cluster
  std::string log;      // shared_log::identity() of the log that the base is for
  revision base = 0;
  // The cluster and revision of a state that is being copied here; empty: the state is complete.
  std::string copied_from = {};
  // Objects are stored as kube-apiserver writes them (upstream_log.hpp). False if the log was
  // written by an old version of Troupe without this layout.
  bool upstream_layout = false;
  std::uint64_t format = 1;
  // Further lines, of a newer program with the same format. They are kept.
  std::string further = {};

  // The identity of the log with this base; a replica on disk is marked with it.
  std::string identity() const { return log + "+" + std::to_string(base); }
  bool operator==(const cluster_record& other) const = default;
};

// Lines of a word and a value. Returns nullopt for any other text, and for a format that this
// program does not know. Format 1 has no line: programs that do not know it refuse further lines.
std::string cluster_text(const cluster_record& record);
std::optional<cluster_record> read_cluster(std::string_view text);

// Reads the record; nullopt if the log holds no cluster. Fails with `invalid` for a format that
// this program does not know. Writes nothing.
expected<std::optional<cluster_record>> find_cluster(blocking_log& log);

// The copy of a log's state in this control plane's directory.
struct log_copy {
  std::string identity = {};  // cluster_record::identity() of its log; empty: there is no copy
  bool is_lost = false;       // the log does not have its history any more (restored_log.hpp)
};

// Reads the record, or writes it if there is none. Raises the base if the log was restored from a
// backup: if it is not the record's log, or if the copy here is lost or has a higher base. Fails
// with `invalid` for a log that cannot be served: a copy into it is incomplete, or this program
// does not know the record's format.
expected<cluster_record> join_cluster(blocking_log& log, const log_copy& here = {});

}  // namespace troupe::persistence
