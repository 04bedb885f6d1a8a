import { Command } from "commander";
import { decide } from "./decide.ts";

/** `postern approve`: let an endpoint in. */
export function command(): Command {
  return decide(
    new Command("approve").description("let an endpoint of another subscription in"),
    "Approved",
    [
      "postern approve clusters/one",
      'postern approve shop-endpoint --message "asked for by the shop team"',
    ],
  );
}
