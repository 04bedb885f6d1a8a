import { X509Certificate } from "node:crypto";
import { request } from "node:https";
import { expect, onTestFinished, test } from "vitest";
import { startChecked } from "../../../../test/simulator/start.ts";
import { makeAuthority, makeServerCertificate, serverCertificates } from "./certificates.ts";
import { memoryKeyValue } from "./key-value.ts";

test("an authority signs a certificate for the names of a server and no others", () => {
  const authority = makeAuthority();
  const ca = new X509Certificate(authority.certificate);
  const made = makeServerCertificate(authority, ["localhost", "127.0.0.1", "::1", "sim.example"]);
  const server = new X509Certificate(made.certificate);
  expect(ca.ca).toBe(true);
  expect(ca.verify(ca.publicKey)).toBe(true);
  expect(server.ca).toBe(false);
  expect(server.checkIssued(ca)).toBe(true);
  expect(server.verify(ca.publicKey)).toBe(true);
  expect(server.subjectAltName).toBe(
    "DNS:localhost, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1, DNS:sim.example",
  );
  expect(server.checkHost("localhost")).toBe("localhost");
  expect(server.checkHost("elsewhere.example")).toBeUndefined();
  expect(server.checkIP("127.0.0.2")).toBeUndefined();
});

test("the authority that was kept is used again", () => {
  const store = memoryKeyValue();
  const first = serverCertificates(store);
  const second = serverCertificates(store, ["other.example"]);
  expect(second.ca).toBe(first.ca);
  expect(new X509Certificate(second.server.certificate).checkHost("other.example")).toBeDefined();
});

test("the simulator is reached over TLS by every name of loopback, and only by who trusts its authority", async () => {
  const simulator = await startChecked({ https: true });
  onTestFinished(() => simulator.close());
  const url = simulator.httpsUrl ?? "";
  expect(await statusOf(`${url}/healthz`, simulator.ca)).toBe(200);
  expect(await statusOf(`${url.replace("127.0.0.1", "localhost")}/healthz`, simulator.ca)).toBe(
    200,
  );
  await expect(statusOf(`${url}/healthz`)).rejects.toThrow(/self-signed|unable to verify|issuer/);
});

test("without TLS no certificate is made", async () => {
  const simulator = await startChecked();
  onTestFinished(() => simulator.close());
  expect(simulator.httpsUrl).toBeUndefined();
  expect(simulator.ca).toBeUndefined();
});

function statusOf(url: string, ca?: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { ca, family: 4 }, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    });
    sent.on("error", reject);
    sent.end();
  });
}
