import { isIPv4, isIPv6 } from "node:net";
import type { Schema } from "../resource.ts";

/**
 * The format that counts: the API server leaves out those that it does not know, and those that do not
 * belong to the type.
 */
export function formatOf(schema: Schema): string {
  const { type, format } = schema;
  if (format === undefined || format === "") return "";
  if (type === "integer") return format === "int32" || format === "int64" ? format : "";
  if (type === "number") return format === "float" || format === "double" ? format : "";
  if (type !== undefined && type !== "string") return "";
  return formats[format.replaceAll("-", "")] === undefined ? "" : format;
}

/** Whether a text is of a format; the names count without their hyphens. */
export function isOfFormat(text: string, format: string): boolean {
  return formats[format.replaceAll("-", "")]?.(text) ?? true;
}

const shortName = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const letterOrSymbol = "a-zA-Z0-9\\p{S}\\p{L}";

const hostname = new RegExp(
  `^([${letterOrSymbol}]((-?[${letterOrSymbol}]{0,62})?)|([${letterOrSymbol}](([${letterOrSymbol}-]{0,61}[${letterOrSymbol}])?)(\\.)){1,}([a-zA-Z\\p{L}]){2,63})$`,
  "u",
);

const formats: Readonly<Record<string, (text: string) => boolean>> = {
  bsonobjectid: (text) => /^[0-9a-fA-F]{24}$/.test(text),
  uri: isRequestUri,
  email: isEmail,
  hostname: isHostname,
  ipv4: (text) => isIPv4(withoutLeadingZeros(text)) || (isIPv6(text) && text.includes(".")),
  ipv6: (text) => isIPv6(text) && !text.includes("%"),
  cidr: isCidr,
  mac: isMac,
  uuid: (text) => /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i.test(text),
  uuid3: (text) =>
    /^[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i.test(text),
  uuid4: (text) =>
    /^[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i.test(text),
  uuid5: (text) =>
    /^[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i.test(text),
  isbn: (text) => isIsbn10(text) || isIsbn13(text),
  isbn10: isIsbn10,
  isbn13: isIsbn13,
  creditcard: isCreditCard,
  ssn: (text) => text.length === 11 && /^\d{3}[- ]?\d{2}[- ]?\d{4}$/.test(text),
  hexcolor: (text) => /^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/.test(text),
  rgbcolor: isRgb,
  byte: (text) =>
    /^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$/.test(text),
  password: () => true,
  date: isDate,
  duration: isDuration,
  datetime: isDateTime,
  k8sshortname: (text) => text.length <= 63 && new RegExp(`^${shortName}$`).test(text),
  k8slongname: (text) =>
    text.length <= 253 && new RegExp(`^${shortName}(\\.${shortName})*$`).test(text),
  // Two of the types of Go: built-in kinds name them, and no definition would.
  gomicrotime: (text) => isDateTime(text) && /:\d{2}\.\d{6}(Z|[+-]\d{2}:\d{2})$/.test(text),
  gobytes: (text) =>
    /^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(
      text.replace(/[\r\n]/g, ""),
    ),
};

/** An absolute URI, or an absolute path. */
function isRequestUri(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: Go refuses them, so they have to be named
  if (text === "" || /[\u0000-\u001f\u007f]/.test(text)) return false;
  if (/%(?![0-9a-fA-F]{2})/.test(text.split("?")[0] ?? "")) return false;
  if (text.startsWith("/")) return true;
  const [, authority] = /^[a-zA-Z][a-zA-Z0-9+.-]*:\/\/([^/?]*)/.exec(text) ?? [];
  if (authority === undefined)
    return (
      /^[a-zA-Z][a-zA-Z0-9+.-]*:[^/]/.test(text) || /^[a-zA-Z][a-zA-Z0-9+.-]*:\/[^/]/.test(text)
    );
  return !/[\s<>"\\^`{|}]/.test(authority) && /^[^:]*(:\d*)?$/.test(withoutBrackets(authority));
}

function withoutBrackets(authority: string): string {
  return authority.replace(/^.*@/, "").replace(/^\[[0-9a-fA-F:.%]+\]/, "host");
}

function isEmail(text: string): boolean {
  const address = /^(?:[^<>@]*<([^<>]+)>|([^<>]+))$/.exec(text.trim());
  const [local = "", domain = "", ...rest] = (address?.[1] ?? address?.[2] ?? "").split("@");
  const atom = "[\\w!#$%&'*+/=?^`{|}~\\u0080-\\u{10ffff}-]+";
  const dotted = new RegExp(`^${atom}(\\.${atom})*$`, "u");
  return (
    rest.length === 0 && (dotted.test(local) || /^"[^"\\]*"$/.test(local)) && dotted.test(domain)
  );
}

function isHostname(text: string): boolean {
  if (!hostname.test(text) || Buffer.byteLength(text) > 255) return false;
  return text.split(".").every((label) => Buffer.byteLength(label) <= 63);
}

function withoutLeadingZeros(text: string): string {
  return text.replace(/(^|\.)0+(?=\d)/g, "$1");
}

function isCidr(text: string): boolean {
  const [address = "", length = "", ...rest] = text.split("/");
  if (rest.length > 0 || !/^\d{1,3}$/.test(length)) return false;
  if (isIPv4(withoutLeadingZeros(address))) return Number(length) <= 32;
  return isIPv6(address) && !address.includes("%") && Number(length) <= 128;
}

function isMac(text: string): boolean {
  const pairs = /^[0-9a-fA-F]{2}(([:-])[0-9a-fA-F]{2})(\2[0-9a-fA-F]{2})*$/.test(text);
  const fours = /^[0-9a-fA-F]{4}(\.[0-9a-fA-F]{4})+$/.test(text);
  const bytes = text.replace(/[^0-9a-fA-F]/g, "").length / 2;
  return (pairs || fours) && [6, 8, 20].includes(bytes);
}

function isIsbn10(text: string): boolean {
  const digits = text.replace(/[\s-]+/g, "");
  if (!/^([0-9]{9}X|[0-9]{10})$/.test(digits)) return false;
  const sum = [...digits].reduce((total, digit, index) => {
    return total + (index + 1) * (digit === "X" ? 10 : Number(digit));
  }, 0);
  return sum % 11 === 0;
}

function isIsbn13(text: string): boolean {
  const digits = text.replace(/[\s-]+/g, "");
  if (!/^[0-9]{13}$/.test(digits)) return false;
  const sum = [...digits].slice(0, 12).reduce((total, digit, index) => {
    return total + (index % 2 === 0 ? 1 : 3) * Number(digit);
  }, 0);
  return Number(digits[12]) === (10 - (sum % 10)) % 10;
}

function isCreditCard(text: string): boolean {
  const digits = text.replace(/[^0-9]+/g, "");
  const issuers =
    /^(4[0-9]{12}([0-9]{3})?|5[1-5][0-9]{14}|6(011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}|3(0[0-5]|[68][0-9])[0-9]{11}|(2131|1800|35\d{3})\d{11})$/;
  if (!issuers.test(digits)) return false;
  const sum = [...digits].reverse().reduce((total, digit, index) => {
    const value = Number(digit) * (index % 2 === 0 ? 1 : 2);
    return total + (value >= 10 ? (value % 10) + 1 : value);
  }, 0);
  return sum % 10 === 0;
}

function isRgb(text: string): boolean {
  const level = "\\s*(0|[1-9]\\d?|1\\d\\d?|2[0-4]\\d|25[0-5])\\s*";
  return new RegExp(`^rgb\\(${level},${level},${level}\\)$`).test(text);
}

function isDate(text: string): boolean {
  const [, year, month, day] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text) ?? [];
  if (year === undefined) return false;
  const days = new Date(Date.UTC(2000 + (Number(year) % 400), Number(month), 0)).getUTCDate();
  return Number(month) >= 1 && Number(month) <= 12 && Number(day) >= 1 && Number(day) <= days;
}

function isDateTime(text: string): boolean {
  const [date = "", time] = text.toLowerCase().split("t");
  if (time === undefined || !isDate(date)) return false;
  const parts = /^([0-9]{2}):([0-9]{2}):([0-9]{2})(.[0-9]+)?(z|[+-][0-9]{2}:[0-9]{2})$/.exec(time);
  const [, hours = "", minutes = "", seconds = ""] = parts ?? [];
  return parts !== null && hours <= "23" && minutes <= "59" && seconds <= "59";
}

const durationUnits = ["ns", "us", "µs", "ms", "s", "m", "h", "d", "w", "hr", "wk"];
const durationWords = /^(nano|micro|milli|sec|min|hour|day|week)/;

/** A duration of Go, or one in words, of which any part that is understood is enough. */
function isDuration(text: string): boolean {
  if (/^[-+]?(0|((\d+(\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h))+)$/.test(text)) return true;
  return [...text.matchAll(/\d+\s*([A-Za-zµ]+)/g)].some(([, unit = ""]) => {
    const word = unit.toLowerCase();
    return durationUnits.includes(word) || durationWords.test(word);
  });
}
