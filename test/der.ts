import { integer, octets, oid, sequence, tagged } from "@postern/core/test-bed/der.ts";

/** Makes DER, for tests of what reads it. */
export const der = { integer, octets, oid, sequence, tagged };
