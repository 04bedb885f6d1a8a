/** One field as it stands on the wire: a number, or bytes that may be a text or another message. */
export interface WireField {
  number: number;
  value: bigint | Buffer;
}

/** The fields of a message, in the order in which they were written. Throws where the bytes are no message. */
export function* wireFields(bytes: Buffer): Generator<WireField> {
  let at = 0;
  const varint = (): bigint => {
    let result = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = bytes[at++];
      if (byte === undefined) throw new Error("a number ends too early");
      result |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asIntN(64, result);
    }
    throw new Error("a number is too long");
  };
  const take = (length: number): Buffer => {
    if (length < 0 || at + length > bytes.length) throw new Error("a field ends too early");
    at += length;
    return bytes.subarray(at - length, at);
  };
  while (at < bytes.length) {
    const key = Number(varint());
    const number = key >>> 3;
    switch (key & 7) {
      case 0:
        yield { number, value: varint() };
        break;
      case 1:
        yield { number, value: take(8) };
        break;
      case 2:
        yield { number, value: take(Number(varint())) };
        break;
      case 5:
        yield { number, value: take(4) };
        break;
      default:
        throw new Error(`a field of the unknown form ${key & 7}`);
    }
  }
}
