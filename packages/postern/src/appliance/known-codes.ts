/** What is known about one error of the agent. */
interface Known {
  /** What it means, for the reader of a boot log. */
  why: string;
  /** What that reader can do. */
  hint: string;
}

const row = (why: string, hint: string): Known => ({ why, hint });

/** Every code of the agent. A test compares docs/reference/agent-errors.md with it. */
export const applianceCodes = {
  // The metadata service of the machine.
  MetadataUnreachable: row(
    "the instance metadata service does not respond",
    "check that this runs on an Azure machine, and the route to 169.254.169.254 on its primary interface",
  ),
  MetadataUnavailable: row(
    "the instance metadata service is temporarily unavailable",
    "check the health of the machine in Azure; the agent can be restarted at any time",
  ),
  MetadataRefused: row(
    "the instance metadata service rejects the request",
    "check that there is no proxy between this machine and 169.254.169.254",
  ),
  MetadataUnreadable: row(
    "the response is not from the instance metadata service",
    "check that no proxy or captive portal responds for 169.254.169.254",
  ),
  MetadataIncomplete: row(
    "the instance metadata service does not identify this machine",
    "check that this is a virtual machine of Azure Resource Manager",
  ),

  // Who this machine is.
  MachineNotFound: row(
    "the machine that the metadata service names does not exist in Azure",
    "check the cloud and the subscription; a machine that is being deleted cannot join",
  ),
  MachineDiffers: row(
    "the metadata service and Azure disagree about the identity of this machine",
    "check that the metadata service is this machine's own, and that the machine was not recreated under its name",
  ),
  InterfaceNotFound: row(
    "the machine has no readable primary network interface",
    "attach a network interface and mark it as primary",
  ),
  AddressMissing: row(
    "the primary network interface has no private address in a subnet",
    "assign an address to its primary IP configuration",
  ),

  // Which pool it joins.
  PoolNameMissing: row(
    "no backend pool is configured",
    "configure the backend pool of the Gateway load balancer",
  ),
  LoadBalancerNotFound: row(
    "no such load balancer of SKU Gateway exists",
    "configure the load balancer, or its resource group and subscription if it is elsewhere",
  ),
  LoadBalancerNotGateway: row(
    "the SKU of the configured load balancer is not Gateway",
    "configure a load balancer of SKU Gateway",
  ),
  PoolNotFound: row(
    "no load balancer of SKU Gateway has a backend pool of exactly this name",
    "correct the name of the pool, or configure the load balancer and its resource group",
  ),
  PoolAmbiguous: row(
    "several load balancers have a backend pool of this name",
    "configure the load balancer too",
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
    "the backend pool was deleted",
    "recreate the pool, or start the agent with the name of another",
  ),
  PoolHoldsInterfaces: row(
    "the backend pool contains network interfaces, and Azure never mixes them with addresses",
    "let the agent join by interface, or use a pool of addresses",
  ),
  PoolHoldsAddresses: row(
    "the backend pool contains addresses, and Azure never mixes them with network interfaces",
    "let the agent join by address, or use a pool of interfaces",
  ),
  AddressesRefused: row(
    "Azure rejects members by address in this backend pool",
    "let the agent join by interface, or add the pool to the network profile of the scale set",
  ),
  InterfaceNotChangeable: row(
    "the interface of a uniform scale set's instance cannot be added to a pool individually",
    "add the pool to the network profile of the scale set, or use a flexible scale set",
  ),
  RegistrationTimedOut: row(
    "registration did not complete in time",
    "check the last error; it is safe to start again",
  ),
  DeregistrationTimedOut: row(
    "deregistration did not complete in time",
    "remove the entry manually, or rely on the health probe; it is safe to deregister again",
  ),

  // The machine itself.
  HealthCheckMissing: row(
    "no health check is configured, so the agent would report an appliance as healthy that has failed",
    "use --health-target, --health-command or --health-port-handover (handOver in the library), or let the appliance answer with --no-health",
  ),
  HealthPortTaken: row(
    "the agent cannot listen on the port of the health probe",
    "stop the process that listens there, or let the appliance respond on another port and configure its address in the agent",
  ),
  HealthCertificateMissing: row(
    "the health probe uses HTTPS, but the agent has no certificate",
    "set --health-certificate and --health-key, change the probe to HTTP, or let the appliance answer with --health-port-handover or --no-health",
  ),
  HealthCertificateWrong: row(
    "the certificate or the key for HTTPS probes cannot be used",
    "use a certificate and its own key, both in PEM and without a passphrase",
  ),
  TunnelInterfaceNotFound: row(
    "no interface of this machine has the address of its primary interface in Azure",
    "check that DHCP has configured the primary interface, and that the agent runs in its network namespace",
  ),
  TunnelPortsWrong: row(
    "the tunnel interfaces of the backend pool are not distinct, are out of range or do not use VXLAN",
    "configure each tunnel interface of the pool with the protocol VXLAN and with a type, port and identifier of its own",
  ),
  FrontendMissing: row(
    "the load balancer has no private frontend address for the tunnel",
    "add a frontend in the machine's network to the Gateway load balancer",
  ),
  TunnelLinkTaken: row(
    "a network link with this name exists that the agent did not create",
    "rename or remove it, or let the appliance create the tunnel itself",
  ),
  TunnelLinksRefused: row(
    "the system cannot create a network link",
    "run the agent with CAP_NET_ADMIN and with iproute2 installed; check the output of the command",
  ),
  IngressNotWritten: row(
    "writing the ingress device file or running its hook failed",
    "check that the agent may write the file, and run the hook manually with INGRESS_DEVICE set",
  ),
  Stopped: row(
    "it was stopped before it completed",
    "start it again; unfinished changes were reverted",
  ),
  NotRegistered: row(
    "this machine is not a member of the backend pool",
    "start the agent, or register the machine with postern agent register",
  ),
} as const satisfies Record<string, Known>;

/** A code of the agent. */
export type ApplianceCode = keyof typeof applianceCodes;
