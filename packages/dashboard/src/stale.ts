import type { Picture } from "./types.ts";

/** Why what the page shows is not known to be true any more. */
export interface Doubt {
  reason: "NoConnection" | "NotReadable" | "Outdated";
  message: string;
  remedy: string;
}

/** What the page knows of its own reading. */
export interface Reading {
  isConnected: boolean;
  /** Reads that failed in a row, and the words of the last one. */
  failures: number;
  failure: string | undefined;
  /** How old the data is; undefined while there is none. */
  ageMs: number | undefined;
}

/** One failed read is shown, and read again at once; two in a row are no accident. */
const mostFailures = 2;
/** Some pulses of the server, and as long as it may read. */
const oldestMs = 120_000;

/** Whether the page can be believed; undefined where it can. */
export function doubtOf({ isConnected, failures, failure, ageMs = 0 }: Reading): Doubt | undefined {
  if (!isConnected)
    return {
      reason: "NoConnection",
      message: "The dashboard's server does not answer.",
      remedy: "Check that Postern is running; the page connects again by itself.",
    };
  if (failures >= mostFailures)
    return {
      reason: "NotReadable",
      message: `The clusters cannot be read: ${sentence(failure ?? "the server gives no reason")}`,
      remedy: "Check Azure and the Kubernetes API; the page reads again by itself.",
    };
  if (ageMs > oldestMs)
    return {
      reason: "Outdated",
      message: "Nothing was read for a long time.",
      remedy: "Reload the page. If that does not help, check that Postern is running.",
    };
  return undefined;
}

/**
 * A picture that is not known to be true any more. Every place on the page takes the health from here, so none of them can go on
 * showing the old one.
 */
export function asStale(picture: Picture, { reason, message, remedy }: Doubt): Picture {
  return {
    ...picture,
    clusters: picture.clusters.map((each) => ({
      ...each,
      health: "Unknown",
      causes: [
        {
          health: "Unknown",
          reason,
          message: `${message} It was ${each.health} before.`,
          remedy,
          since: picture.observedAt,
        },
        ...each.causes,
      ],
    })),
  };
}

/** What the server says has its parts between dots: what, why, what to do. */
function sentence(text: string): string {
  const plain = text.split(" · ").join("; ");
  return /[.!?]$/.test(plain) ? plain : `${plain}.`;
}
