import { expect, test } from "vitest";
import { Pseudonyms } from "./pseudonyms.ts";

const subscription = "0f8a1c52-9c1d-4c3e-8a55-1f2e3d4c5b6a";
const group = `/subscriptions/${subscription}/resourceGroups/acme-prod`;
const parts = [
  {
    metadata: { namespace: "clusters", name: "mc", uid: "6f1a0d5e-2c1b-4c55-9d0a-0c8f5d3a7e11" },
    spec: { dns: { baseDomain: "corp.acme.example" }, resourceGroup: "acme-prod" },
    status: {
      message: `cannot read ${group}/providers/Microsoft.Network/virtualNetworks/spoke-7/subnets/dmz, says mc`,
    },
  },
  {
    id: `${group}/providers/Microsoft.Network/privateEndpoints/secret-shop`,
    address: "10.4.0.9",
    longAddress: "fd00:db8::4",
    at: "2026-01-01T10:20:30Z",
    host: "api-mc.corp.acme.example",
    alias: `pls.${subscription}.westeurope.azure.privatelinkservice`,
    kind: "hypershift.openshift.io",
  },
];
const hidden = () => new Pseudonyms(parts).in(JSON.stringify(parts));

test("no name, id or address is left, whether of Kubernetes or of Azure", () => {
  const text = hidden();
  for (const word of ["acme", "spoke-7", "dmz", "secret-shop", "clusters", '"mc"', " mc", "fd00"])
    expect(text).not.toContain(word);
  expect(text).not.toMatch(/[0-9a-f]{8}-[0-9a-f]{4}-/i);
  expect(text).not.toMatch(/\d+\.\d+\.\d+\.\d+/);
});

test("the same thing has the same word everywhere, and what belongs to nobody is kept", () => {
  const text = hidden();
  const [, first] = /"resourceGroup":"(name-\d+)"/.exec(text) ?? [];
  expect(text).toContain(`/resourceGroups/${first}/providers/Microsoft.Network/privateEndpoints/`);
  for (const word of ["hypershift.openshift.io", "2026-01-01T10:20:30Z", "virtualNetworks"])
    expect(text).toContain(word);
  expect(JSON.parse(text)).toHaveLength(2);
});

test("a person's address and a company's domain go, whatever they end in; words of products stay", () => {
  const names = new Pseudonyms([]);
  const hidden = names.in(
    "jane.doe@shop.acme.de asked for api.shop.acme.de and x.westeurope.cloudapp.azure.com in Microsoft.Network/privateEndpoints of hypershift.openshift.io/v1beta1",
  );
  expect(hidden).toBe(
    "email-1 asked for domain-1 and domain-2 in Microsoft.Network/privateEndpoints of hypershift.openshift.io/v1beta1",
  );
});
