import type { Picture } from "./types.ts";

/**
 * A picture of a server that does not answer any more: what was true then is not known now. Every place on the page takes the
 * health from here, so none of them can go on showing the old one.
 */
export function asStale(picture: Picture): Picture {
  return {
    ...picture,
    clusters: picture.clusters.map((each) => ({
      ...each,
      health: "Unknown",
      causes: [
        {
          health: "Unknown",
          reason: "NoConnection",
          message: `The dashboard's server does not answer. It was ${each.health} when it did.`,
          remedy: "Check that Postern is running; the page connects again by itself.",
          since: picture.observedAt,
        },
        ...each.causes,
      ],
    })),
  };
}
