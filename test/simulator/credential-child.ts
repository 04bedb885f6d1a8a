// A program as people run it: it gets a token the way its environment says, asks with it, and prints what it saw.
import { DefaultAzureCredential, ManagedIdentityCredential } from "@azure/identity";

const [kind, clientId] = process.argv.slice(2);
const credential =
  kind === "managed"
    ? clientId === undefined
      ? new ManagedIdentityCredential()
      : new ManagedIdentityCredential({ clientId })
    : new DefaultAzureCredential({ disableInstanceDiscovery: true });
try {
  const { token, expiresOnTimestamp } = await credential.getToken(
    "https://management.azure.com/.default",
  );
  console.log(JSON.stringify({ token, expiresOnTimestamp }));
} catch (error) {
  console.log(JSON.stringify({ error: String(error) }));
}
