import { X509Certificate } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Registry } from "@prometheus-io/client";
import { expect, onTestFinished, test } from "vitest";
import { makeCertificates } from "../../../../test/certificates.ts";
import { ManualClock } from "../../../../test/manual-clock.ts";
import { silentLog } from "../kube/log.ts";
import { azureFromEnvironment } from "./azure.ts";
import { showCertificates } from "./azure-metrics.ts";

const name = "postern_azure_credential_expiry_timestamp_seconds";

test("the operator's own certificate has its expiry in the metrics, even where Entra cannot be reached", async () => {
  const folder = await mkdtemp(join(tmpdir(), "postern-certificate-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const { client } = makeCertificates("operator");
  const file = join(folder, "credential.pem");
  await writeFile(file, `${client.key}${client.certificate}`);
  const registry = new Registry();
  const azure = azureFromEnvironment(
    {
      AZURE_TENANT_ID: "11111111-1111-1111-1111-111111111111",
      AZURE_CLIENT_ID: "22222222-2222-2222-2222-222222222222",
      AZURE_CLIENT_CERTIFICATE_PATH: file,
      AZURE_AUTHORITY_HOST: "https://127.0.0.1:1",
    },
    { log: silentLog, registry, clock: new ManualClock(), version: "test" },
  );
  onTestFinished(() => azure.close());
  const stop = new AbortController();
  const token = azure.credential.token(stop.signal).catch(() => "none");
  const expiry = new X509Certificate(client.certificate).validToDate.getTime() / 1_000;
  await expect
    .poll(() => registry.metrics())
    .toContain(`${name}{client_id="22222222-2222-2222-2222-222222222222"} ${expiry}`);
  stop.abort();
  expect(await token).toBe("none");
});

test("a certificate that was renewed has its new expiry, and one that nobody uses any more has none after a day", async () => {
  const registry = new Registry();
  const clock = new ManualClock();
  const onCertificate = showCertificates(registry, clock);
  const principal = (clientId: string) => ({ tenantId: "tenant", clientId });
  onCertificate(principal("renewed"), new Date(1_000_000));
  onCertificate(principal("deleted"), new Date(2_000_000));
  expect(await registry.metrics()).toContain(`${name}{client_id="deleted"} 2000`);
  await clock.move(86_400_001);
  onCertificate(principal("renewed"), new Date(9_000_000));
  const lines = (await registry.metrics()).split("\n").filter((line) => line.startsWith(name));
  expect(lines).toEqual([`${name}{client_id="renewed"} 9000`]);
});
