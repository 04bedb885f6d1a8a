import { Command } from "commander";
import { decide } from "./decide.ts";

/** `postern approve`: approve a private endpoint connection. */
export function command(): Command {
  return decide(
    new Command("approve").description("Approve a private endpoint connection"),
    "Approved",
    [
      "postern approve clusters/one",
      'postern approve shop-endpoint --message "requested by the shop team"',
    ],
  );
}
