/** Ctrl-C: nothing failed, and nothing more is done. */
export class Interrupted extends Error {
  override readonly name = "Interrupted";
}
