import { type TenantPolicy, tenantPolicy } from "@postern/core/tenant-policy.ts";
import { baseDomain, blueDomain, evilDomain, groups } from "./azure.ts";

/** How the platform team runs the operator. */
export interface Variant {
  name: string;
  policy?: TenantPolicy;
  natSubnets: "shared" | "per-cluster";
  /** HyperShift creates control planes and their namespaces. */
  hyperShift: boolean;
  /** Whether clusters may have hostnames at all. */
  hostnames: boolean;
  /** Hostnames that the attacker must not get. */
  forbiddenHosts: RegExp;
}

/**
 * As docs/security.md recommends: the tenant has its own domains and resource groups. The attacker has domains of its own, and
 * for the rest nothing limits it but the rules that need no policy.
 */
const policy = tenantPolicy([
  { namespace: "blue", domains: [blueDomain] },
  { namespace: "blue-capi", domains: [`two.${baseDomain}`], resourceGroups: [groups.two] },
  { namespace: "org-mc", domains: ["*"] },
  {
    namespace: "*",
    domains: [evilDomain, ...["evil", "thief", "three"].map((each) => `${each}.${baseDomain}`)],
  },
]);

/** Both tenants may have the same names. */
const overlapping = tenantPolicy([
  { namespace: "blue", domains: ["example.com"] },
  { namespace: "blue-capi", domains: [baseDomain], resourceGroups: [groups.two] },
  { namespace: "org-mc", domains: ["*"] },
  { namespace: "*", domains: ["example.com", baseDomain] },
]);

const usual: Omit<Variant, "name"> = {
  policy,
  natSubnets: "shared",
  hyperShift: false,
  hostnames: true,
  forbiddenHosts: /(^|\.)(blue|mgmt)\.example\.com$/,
};

/** Every way that the law is tested in. */
export const variants: readonly Variant[] = [
  { ...usual, name: "a policy" },
  {
    name: "no policy",
    natSubnets: "shared",
    hyperShift: false,
    hostnames: false,
    forbiddenHosts: /\.example\.com$/,
  },
  {
    ...usual,
    name: "overlapping domains",
    policy: overlapping,
    forbiddenHosts: /-on-e\.blue\.example\.com$/,
  },
  { ...usual, name: "a NAT subnet for each cluster", natSubnets: "per-cluster" },
  { ...usual, name: "control planes of HyperShift", hyperShift: true },
];
