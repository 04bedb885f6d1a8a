import { integer, octets, oid, sequence, tagged } from "@postern/core/der.ts";

/** Makes DER, for tests of what reads it. */
export const der = { integer, octets, oid, sequence, tagged };
