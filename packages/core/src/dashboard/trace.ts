import type { State } from "./picture.ts";

/** One step on the way from a name to the machines behind it. */
export interface Hop {
  what: "zone" | "record" | "endpoint" | "approval" | "link service" | "load balancer" | "backend";
  name: string;
  state: State;
  /** What was found there. */
  found: string;
  /** Of a load balancer: the frontends that the link service stands before, by id. */
  frontends?: string[];
  /** What to do about it, where it breaks. */
  remedy?: string;
}

/** The way of a name as clients in one network go it. It ends at the first hop that is broken. */
export interface Trace {
  /** Absent where the zone is linked to none, or its links cannot be read. */
  network?: string;
  hops: Hop[];
  works: boolean;
  /** Whether a zone of this network has the name. Where it has not, nobody promised that it works from there. */
  known: boolean;
}
