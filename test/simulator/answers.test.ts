import { expect, test } from "vitest";
import { describeWithData } from "../setup/needs.ts";
import { Answers } from "./answers.ts";
import { group, network, networkBody, smallWorld } from "./small-world.ts";

describeWithData(
  "azure-openapi",
  "every answer of a test is held against Azure's documents",
  () => {
    const url = `${network}?api-version=2024-05-01`;

    test("an answer that a document does not allow is kept with its request", () => {
      const answers = new Answers();
      const body = JSON.stringify({ properties: { subnets: "none" } });
      answers.answered({ method: "GET", url, status: 200, body, fault: undefined });
      answers.answered({ method: "GET", url, status: 299, body: "{}", fault: undefined });
      expect(answers.wrong).toEqual([
        expect.stringMatching(
          /^GET .*virtualNetworks\/v\?.* → 200: \/properties\/subnets must be array/,
        ),
        expect.stringContaining("→ 299: status 299 is not among 200, default"),
      ]);
    });

    test("an answer that a fault made is let by", () => {
      const answers = new Answers();
      answers.answered({ method: "GET", url, status: 502, body: "<html>", fault: "html" });
      expect(answers).toMatchObject({ wrong: [], checked: 0 });
    });

    test("answers of a simulator come by, refusals too", async () => {
      const answers = new Answers();
      const { ask } = await smallWorld({ answered: answers.answered });
      await ask("PUT", group, { location: "westeurope" });
      await ask("GET", network);
      await ask("PUT", network, networkBody());
      expect(answers).toMatchObject({ wrong: [], checked: 2, unknown: 1 });
    });
  },
);
