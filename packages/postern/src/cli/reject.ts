import { Command } from "commander";
import { decide } from "./decide.ts";

/** `postern reject`: reject a private endpoint connection. */
export function command(): Command {
  return decide(
    new Command("reject").description(
      "Reject a private endpoint connection; this is final, and the endpoint has to be recreated to connect again",
    ),
    "Rejected",
    ["postern reject clusters/one", 'postern reject shop-endpoint --message "unknown requester"'],
  );
}
