/** The few forms of DER that a certificate is made of. */

/** A value with its tag and length. */
export function tagged(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  if (length < 0x80) return Buffer.concat([Buffer.from([tag, length]), content]);
  const digits = Buffer.from(length.toString(16).padStart(length > 0xff ? 4 : 2, "0"), "hex");
  return Buffer.concat([Buffer.from([tag, 0x80 | digits.length]), digits, content]);
}

/** Values in their order. */
export function sequence(...parts: readonly Uint8Array[]): Buffer {
  return tagged(0x30, ...parts);
}

/** A positive whole number from its bytes. */
export function integer(bytes: Uint8Array): Buffer {
  return (bytes[0] ?? 0) < 0x80 ? tagged(0x02, bytes) : tagged(0x02, Buffer.from([0]), bytes);
}

/** The name of an algorithm or a field, such as `2.5.4.3`. */
export function oid(text: string): Buffer {
  const [first = 0, second = 0, ...rest] = text.split(".").map(Number);
  const bytes = [first * 40 + second];
  for (const arc of rest) {
    const group = [arc & 0x7f];
    for (let left = arc >> 7; left > 0; left >>= 7) group.unshift((left & 0x7f) | 0x80);
    bytes.push(...group);
  }
  return tagged(0x06, Buffer.from(bytes));
}

/** Whole bytes as a string of bits; `unused` at the end do not count. */
export function bits(content: Uint8Array, unused = 0): Buffer {
  return tagged(0x03, Buffer.from([unused]), content);
}

/** Any bytes. */
export function octets(content: Uint8Array): Buffer {
  return tagged(0x04, content);
}

/** Text. */
export function utf8(text: string): Buffer {
  return tagged(0x0c, Buffer.from(text));
}

/** A time before 2050, as `yymmddhhmmssZ`. */
export function time(date: Date): Buffer {
  const digits = date.toISOString().replace(/[-:T]|\.\d+/g, "");
  return tagged(0x17, Buffer.from(digits.slice(2)));
}

/** Yes. */
export const yes = tagged(0x01, Buffer.from([0xff]));
