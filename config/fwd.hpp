#pragma once

namespace troupe::config {

struct address;
struct byte_size;
struct inputs;
struct ip_address;
struct loaded_config;
struct node_config;
struct setting;

struct server_config;
struct store_config;
struct etcd_config;
struct kubelet_config;
struct scheduler_config;
struct log_config;
struct runtime_config;

}  // namespace troupe::config
