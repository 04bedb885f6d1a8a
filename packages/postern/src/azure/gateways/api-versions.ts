/** The versions of the APIs that we speak. They are those of the recordings, where there are any. */
export const apiVersions = {
  network: "2025-05-01",
  privateDns: "2024-06-01",
  publicDns: "2018-05-01",
  compute: "2025-04-01",
  /** The network interfaces of scale-set instances are served by an API that stopped here. */
  scaleSetInterfaces: "2018-10-01",
  resources: "2021-04-01",
} as const;
