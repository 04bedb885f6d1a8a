import { type Environment, Optional } from "@marcbachmann/cel-js";
import { isOfFormat } from "../../formats.ts";
import { labelFaults, subdomainFaults } from "../../names.ts";
import { type Functions, register, registerNamespace } from "./register.ts";

/** A format by its name: what keeps a text from being of it. */
class FormatValue {
  readonly name: string;
  readonly faults: (text: string) => string[];

  constructor(name: string, faults: (text: string) => string[]) {
    this.name = name;
    this.faults = faults;
  }

  equals(other: unknown): boolean {
    return other instanceof FormatValue && other.name === this.name;
  }
}

function matching(pattern: RegExp, most: number, why: string): (text: string) => string[] {
  return (text) => [
    ...(text.length > most ? [`must be no more than ${most} bytes`] : []),
    ...(pattern.test(text) ? [] : [why]),
  ];
}

const dnsLabel = matching(
  /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/,
  63,
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
);

const labelValue = matching(
  /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/,
  63,
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
);

const namePart = matching(
  /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/,
  63,
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
);

function qualifiedName(text: string): string[] {
  const parts = text.split("/");
  if (parts.length > 2) return ["a qualified name must have a name part and an optional prefix"];
  const [name = "", prefix] = parts.toReversed();
  const before = prefix === undefined ? [] : subdomainFaults(prefix);
  return [...before.map((fault) => `prefix part ${fault}`), ...namePart(name)];
}

/** A prefix may end with a hyphen or a dot, for something follows it. */
function prefixOf(faults: (text: string) => string[]): (text: string) => string[] {
  return (text) => faults(text.replace(/[-.]$/, "a"));
}

function known(format: string, why: string): (text: string) => string[] {
  return (text) => (isOfFormat(text, format) ? [] : [why]);
}

const formats: Readonly<Record<string, (text: string) => string[]>> = {
  dns1123Label: dnsLabel,
  dns1123Subdomain: subdomainFaults,
  dns1035Label: labelFaults,
  qualifiedName,
  dns1123LabelPrefix: prefixOf(dnsLabel),
  dns1123SubdomainPrefix: prefixOf(subdomainFaults),
  dns1035LabelPrefix: prefixOf(labelFaults),
  labelValue,
  uri: known("uri", "invalid URI for request"),
  uuid: known("uuid", "does not match the UUID format"),
  byte: known("byte", "invalid base64"),
  date: known("date", "invalid date"),
  datetime: known("datetime", "invalid datetime"),
};

const type = "kubernetes.NamedFormat";

/** Formats by name. */
export function registerFormats(environment: Environment): void {
  environment.registerType(type, FormatValue);
  registerNamespace(environment, "format", "FormatNamespace");
  const values = Object.entries(formats).map(([name, faults]) => new FormatValue(name, faults));
  const functions: Functions = {
    [`FormatNamespace.named(string): optional<${type}>`]: (_: unknown, name: string) =>
      Optional.of(values.find((one) => one.name === name)),
    [`${type}.validate(string): optional<list<string>>`]: (format: FormatValue, text: string) => {
      const faults = format.faults(text);
      return faults.length === 0 ? Optional.none() : Optional.of(faults);
    },
  };
  register(environment, functions);
  for (const value of values) {
    register(environment, { [`FormatNamespace.${value.name}(): ${type}`]: () => value });
  }
}
