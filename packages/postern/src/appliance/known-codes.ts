/** What we know about one way in which the agent fails. */
interface Known {
  /** What it means, for the reader of a boot log. */
  why: string;
  /** What that reader can do. */
  hint: string;
}

const row = (why: string, hint: string): Known => ({ why, hint });

/** Every code of the agent. docs/reference/agent-errors.md is held to it by a test. */
export const applianceCodes = {
  // The metadata service of the machine.
  MetadataUnreachable: row(
    "the instance metadata service does not answer",
    "check that this runs on an Azure machine, and the route to 169.254.169.254 on its primary interface",
  ),
  MetadataUnavailable: row(
    "the instance metadata service keeps refusing for now",
    "look at the health of the machine in Azure; the agent can be started again at any time",
  ),
  MetadataRefused: row(
    "the instance metadata service refuses the request",
    "check that no proxy stands between this machine and 169.254.169.254",
  ),
  MetadataUnreadable: row(
    "what answers is not the instance metadata service",
    "check that no proxy or captive portal answers for 169.254.169.254",
  ),
  MetadataIncomplete: row(
    "the instance metadata service does not say which machine this is",
    "check that this is a machine of Azure Resource Manager",
  ),

  // Who this machine is.
  MachineNotFound: row(
    "Azure does not know the machine that the metadata service names",
    "check the cloud and the subscription; a machine that is being deleted cannot join",
  ),
  MachineDiffers: row(
    "the metadata service names a machine that is another one in Azure",
    "check that the metadata service is this machine's own, and that the machine was not made anew under its name",
  ),
  InterfaceNotFound: row(
    "the machine has no primary network interface that can be read",
    "attach a network interface and mark it as primary",
  ),
  AddressMissing: row(
    "the primary network interface has no private address in a subnet",
    "give its primary IP configuration an address",
  ),

  // Which pool it joins.
  PoolNameMissing: row(
    "no backend pool is named",
    "name the backend pool of the Gateway load balancer",
  ),
  LoadBalancerNotFound: row(
    "there is no such load balancer of SKU Gateway",
    "name the load balancer, or its resource group and subscription, if it is elsewhere",
  ),
  LoadBalancerNotGateway: row(
    "the load balancer that was named is not of SKU Gateway",
    "name a load balancer of SKU Gateway",
  ),
  PoolNotFound: row(
    "no load balancer of SKU Gateway has a backend pool of exactly this name",
    "correct the name of the pool, or name the load balancer and its resource group",
  ),
  PoolAmbiguous: row(
    "several load balancers have a backend pool of this name",
    "name the load balancer too",
  ),
  PoolInAnotherRegion: row(
    "the load balancer is in another region than this machine",
    "use a Gateway load balancer in the machine's region",
  ),
  PoolInAnotherNetwork: row(
    "the load balancer is in another virtual network than this machine",
    "use a Gateway load balancer whose frontend is in the machine's network",
  ),

  // Joining and leaving.
  PoolGone: row(
    "the backend pool does not exist any more",
    "make the pool again, or start the agent with the name of another",
  ),
  PoolHoldsInterfaces: row(
    "the backend pool holds network interfaces, and Azure never mixes them with addresses",
    "let the agent join by interface, or give it a pool of addresses",
  ),
  PoolHoldsAddresses: row(
    "the backend pool holds addresses, and Azure never mixes them with network interfaces",
    "let the agent join by address, or give it a pool of interfaces",
  ),
  AddressesRefused: row(
    "Azure refuses members by address in this backend pool",
    "let the agent join by interface, or name the pool in the network profile of the scale set",
  ),
  InterfaceNotChangeable: row(
    "the interface of an instance of a uniform scale set cannot be put into a pool by itself",
    "name the pool in the network profile of the scale set, or use a flexible scale set",
  ),
  RegistrationTimedOut: row(
    "it did not come about in the time allowed",
    "look at what went wrong last; starting again is safe",
  ),
  DeregistrationTimedOut: row(
    "it did not come about in the time allowed",
    "remove the entry by hand, or let the health probe take care of it; leaving again is safe",
  ),

  // The machine itself.
  HealthCheckMissing: row(
    "nothing says when the appliance is healthy, and the agent would answer 200 also for one that is dead",
    "give --health-target, --health-command or --health-port-handover (handOver in the library), or let the appliance answer with --no-health",
  ),
  HealthPortTaken: row(
    "the port of the health probe cannot be listened on",
    "end what listens there, or let the appliance answer on another port and give the agent its address",
  ),
  HealthCertificateMissing: row(
    "the health probe is HTTPS, and the agent has no certificate to answer it with",
    "give it --health-certificate and --health-key, make the probe HTTP, or let the appliance answer with --health-port-handover or --no-health",
  ),
  HealthCertificateWrong: row(
    "the certificate or the key for HTTPS probes cannot be used",
    "give a certificate and its own key, both in PEM and without a passphrase",
  ),
  TunnelInterfaceNotFound: row(
    "no interface of this machine has the address of its primary interface in Azure",
    "check that DHCP has configured the primary interface, and that the agent runs in its network namespace",
  ),
  TunnelPortsWrong: row(
    "the tunnels of the backend pool cannot be told apart, are out of range or not of VXLAN",
    "give each tunnel interface of the pool the protocol VXLAN and a type, a port and an identifier of its own",
  ),
  FrontendMissing: row(
    "the load balancer has no private address to which the tunnel could lead",
    "give the Gateway load balancer a frontend in the machine's network",
  ),
  TunnelLinkTaken: row(
    "a network link of this name is there that the agent did not make",
    "rename or remove it, or let the appliance make the tunnel itself",
  ),
  TunnelLinksRefused: row(
    "the system refuses to make a network link",
    "run the agent with CAP_NET_ADMIN and with iproute2 installed; look at what the command said",
  ),
  IngressNotWritten: row(
    "the file or the hook that takes the ingress device fails",
    "check that the agent may write the file, and run the hook by hand with INGRESS_DEVICE set",
  ),
  Stopped: row(
    "it was asked to stop before it had come to its end",
    "start it again; what it had begun was undone",
  ),
  NotRegistered: row(
    "this machine is not a member of the backend pool",
    "start the agent, or register the machine with postern agent register",
  ),
} as const satisfies Record<string, Known>;

/** A code of the agent. */
export type ApplianceCode = keyof typeof applianceCodes;
