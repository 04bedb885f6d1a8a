import { createHash } from "node:crypto";

/** Random numbers from 0 to below 1, the same in every run with the same seed: Marsaglia's xorshift of 32 bits. */
export function seededRandom(seed: string): () => number {
  // Xorshift stays at zero for ever, so it must not begin there.
  let state = createHash("sha256").update(seed).digest().readUInt32LE(0) || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 0x1_0000_0000;
  };
}
