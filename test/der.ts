import { integer, octets, oid, sequence, tagged } from "../src/simulator/der.ts";

/** Makes DER, for tests of what reads it. */
export const der = { integer, octets, oid, sequence, tagged };
