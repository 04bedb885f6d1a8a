import "./networks.ts";
import "./load-balancers.ts";
import "./private-link.ts";
import "./dns.ts";
import "./access.ts";
