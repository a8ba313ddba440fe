// Rules of other programs that drop the packets of pods, in texts as nft prints them.
#include "actors/network/routing/forward_filter.hpp"

#include <catch2/catch.hpp>

namespace troupe::test {

using namespace actors::routing;

namespace {

const api::cidr pods = *api::cidr::parse("10.42.1.0/24");

// The table of a machine with Docker, with these lines besides in the chain of the user.
std::string docker(const std::string& lines) {
  return R"(# Warning: table ip filter is managed by iptables-nft, do not touch!
table ip filter {
	set mine {
		type ipv4_addr
	}

	chain INPUT {
		type filter hook input priority filter; policy accept;
		ip saddr 10.42.0.0/16 counter accept
	}

	chain FORWARD {
		type filter hook forward priority filter; policy drop;
		counter jump DOCKER-USER
		iifname "docker0" counter jump OTHERS
		ct state related,established counter accept
		oifname "docker0" ct state related,established counter accept
		iifname "docker0" oifname != "docker0" counter accept
	}

	chain OTHERS {
		counter accept
	}

	chain DOCKER-USER {
)" + lines +
         "\n\t\tcounter jump FORWARD\n\t\tcounter return\n\t}\n}\n";
}

bool passes(const std::string& lines) {
  return accepts_pods(docker(lines), "FORWARD", pods);
}

}  // namespace

TEST_CASE("the chains of others that drop forwarded packets are found", "[pod_network]") {
  CHECK(dropping_chains(R"(table ip filter {
	chain INPUT {
		type filter hook input priority filter; policy drop;
	}
	chain FORWARD {
		type filter hook forward priority filter; policy drop;
	}
	chain DOCKER-USER {
	}
}
table ip6 filter {
	chain FORWARD {
		type filter hook forward priority filter; policy accept;
	}
}
table inet mine {
	chain pass {
		type filter hook forward priority -5; policy drop;
	}
}
table bridge filter {
	chain FORWARD {
		type filter hook forward priority filter; policy drop;
	}
}
table ip troupe-policy {
	chain forward {
		type filter hook forward priority 10; policy drop;
	}
}
)") == std::vector<forward_chain>{{"ip", "filter", "FORWARD"}, {"inet", "mine", "pass"}});
  CHECK(dropping_chains("").empty());
  CHECK(dropping_chains("table\nchain\nhook forward drop;\n\"").empty());
}

TEST_CASE("a chain accepts pods by their addresses, by their devices or without conditions",
          "[pod_network]") {
  CHECK_FALSE(passes(""));
  CHECK(passes("\t\tip saddr 10.42.0.0/16  counter accept"));
  CHECK(passes("\t\tip daddr { 10.0.0.0/30, 10.42.0.0/16 } counter accept comment \"a jump b\""));
  CHECK(passes("\t\tiifname \"veth*\" ct state new accept"));
  CHECK(passes("\t\toifname \"troupe-vx\" accept"));
  CHECK(passes("\t\tiifname != \"eth0\" accept"));
  CHECK(passes("\t\tcounter accept"));
  CHECK_FALSE(passes("\t\tip saddr 10.43.0.0/16 counter accept"));
  CHECK_FALSE(passes("\t\tip saddr 10.42.1.8/29 counter accept"));
  CHECK_FALSE(passes("\t\tip saddr != 10.42.0.0/16 accept"));
  CHECK_FALSE(passes("\t\tip saddr 10.42.0.0/16 oifname \"docker0\" accept"));
  CHECK_FALSE(passes("\t\ttcp dport 80 accept"));
  CHECK_FALSE(passes("\t\tcounter drop comment \" accept \""));
  CHECK_FALSE(passes("\t\tcounter jump\n\t\tip\n\t\tip saddr\n\t\tiifname !=\n\t\tip saddr {"));
  CHECK_FALSE(accepts_pods("", "FORWARD", pods));
}

}  // namespace troupe::test
