import { Command } from "commander";
import { decide } from "./decide.ts";

/** `postern reject`: turn an endpoint away. */
export function command(): Command {
  return decide(
    new Command("reject").description(
      "turn an endpoint away; it cannot be let in again and must be recreated",
    ),
    "Rejected",
    [
      "postern reject clusters/one",
      'postern reject shop-endpoint --message "nobody knows who asked for it"',
    ],
  );
}
