import { expect, test } from "vitest";
import { unreadIn } from "../view/gather.ts";
import { notRead, table } from "./output.ts";

test("a table that does not fit has its columns one below the other", () => {
  const rows = [
    ["pe-one", "asks to be let in"],
    ["pe-two", "asks too"],
  ];
  expect(table(["NAME", "SAYS"], rows, 80)).toBe(
    "NAME     SAYS\npe-one   asks to be let in\npe-two   asks too",
  );
  expect(table(["NAME", "SAYS"], rows, 20)).toBe(
    "NAME pe-one\nSAYS asks to be let in\n\nNAME pe-two\nSAYS asks too",
  );
});

test("what could not be read has one line for each subscription and each kind of Kubernetes", () => {
  const group = (subscription: string, name: string) =>
    `/subscriptions/${subscription}/resourceGroups/${name}`;
  const unread = [
    { what: "hostedclusters", why: "forbidden", type: "hostedclusters" },
    unreadIn("networks", group("S", "blue"), "you may not"),
    unreadIn("endpoints", group("s", "green"), "you may not either"),
    unreadIn("networks", group("t", "red"), "you may not"),
    unreadIn("endpoints", group("t", "red"), "you may not"),
    unreadIn("networks", "u", "you may not"),
  ];
  expect(notRead(unread)).toEqual([
    "Not read: hostedclusters: Forbidden.",
    "Not read: networks, endpoints in 2 places of subscription s: You may not.",
    `Not read: networks, endpoints in ${group("t", "red")}: You may not.`,
    "Not read: networks in u: You may not.",
  ]);
});
