import { expect, test } from "vitest";
import { cloudNamed, customCloud } from "./clouds.ts";

test.each([
  [undefined, "https://management.azure.com"],
  ["", "https://management.azure.com"],
  ["AzurePublicCloud", "https://management.azure.com"],
  ["AZUREPUBLICCLOUD", "https://management.azure.com"],
  ["AzureCloud", "https://management.azure.com"],
  ["AzureUSGovernmentCloud", "https://management.usgovcloudapi.net"],
  ["AzureUSGovernment", "https://management.usgovcloudapi.net"],
  ["azurechinacloud", "https://management.chinacloudapi.cn"],
  ["AzureGermanCloud", "https://management.microsoftazure.de"],
  ["AzureBleuCloud", "https://management.sovcloud-api.fr"],
])("%j is at %s", (name, resourceManager) => {
  expect(cloudNamed(name)).toMatchObject({ resourceManager });
});

test.each(["AzureStackCloud", "Azure", "toString"])("there is no cloud %s", (name) => {
  expect(() => cloudNamed(name)).toThrow(/UnknownCloud.*AzurePublicCloud, AzureUS/);
});

test("a cloud at given addresses answers for everything unless told otherwise", () => {
  expect(customCloud({ resourceManager: "http://127.0.0.1:8080/" })).toEqual({
    name: "AzureStackCloud",
    resourceManager: "http://127.0.0.1:8080",
    audience: "http://127.0.0.1:8080",
    authorityHost: "http://127.0.0.1:8080",
    custom: true,
  });
  expect(() => customCloud({ resourceManager: "nowhere" })).toThrow(/UnknownCloud/);
});
