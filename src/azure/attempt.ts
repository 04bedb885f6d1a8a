import { type Failure, isExplained } from "../model/failure.ts";
import { AzureError } from "./errors.ts";

/** What a read gave, or why it failed. What passes by itself, and the end of the pass, are for the controller. */
export async function attempt<T>(read: () => Promise<T>): Promise<T | { failed: Failure }> {
  try {
    return await read();
  } catch (error) {
    const ended = error instanceof AzureError && ["Cancelled", "NotLeader"].includes(error.code);
    if (ended || !isExplained(error)) throw error;
    const failed = error.explain();
    if (failed.passing === true) throw error;
    return { failed };
  }
}
