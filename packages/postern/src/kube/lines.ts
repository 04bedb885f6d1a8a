/**
 * Cuts a stream of bytes into lines. A line that is not whole yet is kept until its end comes;
 * what is left when the stream ends was never a line and is dropped by the caller.
 */
export class Lines {
  #parts: Buffer[] = [];

  /** Take the next bytes and call `onLine` for each line that is whole with them. */
  push(bytes: Buffer, onLine: (line: string) => void): void {
    let from = 0;
    for (;;) {
      const end = bytes.indexOf(10, from);
      if (end < 0) break;
      if (this.#parts.length === 0) onLine(bytes.toString("utf8", from, end));
      else {
        this.#parts.push(bytes.subarray(from, end));
        onLine(Buffer.concat(this.#parts).toString());
        this.#parts = [];
      }
      from = end + 1;
    }
    // A copy, because a few bytes of a large chunk would hold the whole chunk.
    if (from < bytes.length) this.#parts.push(Buffer.from(bytes.subarray(from)));
  }

  /** Whether part of a line is waiting for its end. */
  get isPartial(): boolean {
    return this.#parts.length > 0;
  }
}

const metadataKey = '"metadata":{';
const fieldsKey = '"managedFields":[';

/**
 * The same JSON without `metadata.managedFields`, which nobody here reads and which is up to half of an object:
 * cutting it out of the text costs a tenth of parsing it. Text in another form than the API server's is left alone.
 *
 * Where keys are in order, `name` follows; built-in kinds have it last in the metadata; other servers have it
 * anywhere. No ending can stand inside the list: its strings have their quotes escaped, and it nests no other list.
 */
export function withoutManagedFields(json: string): string {
  const start = json.indexOf(fieldsKey);
  if (start < 0) return json;
  const metadata = json.indexOf(metadataKey);
  if (metadata < 0 || metadata > start || json.lastIndexOf(metadataKey, start) !== metadata)
    return json;
  const followed = beforeKey(json, '}],"', start);
  const last = beforeKey(json, '}]},"', start);
  // Whichever comes first ends the list; the other may stand anywhere behind it.
  if (followed >= 0 && (last < 0 || followed < last))
    return json.slice(0, start) + json.slice(followed + 3);
  if (last >= 0 && json[start - 1] === ",") return json.slice(0, start - 1) + json.slice(last + 2);
  return json;
}

/** Where an ending stands that a key follows. */
function beforeKey(json: string, ending: string, from: number): number {
  let end = json.indexOf(ending, from);
  // A letter behind the quote begins a key; a quote that ends a string is never followed by one.
  while (end >= 0 && !/[a-zA-Z]/.test(json[end + ending.length] ?? ""))
    end = json.indexOf(ending, end + 1);
  return end;
}
