/** Small things that outlive the process where there is a state file: keys, certificates, the directory. */
export interface KeyValue {
  get(name: string): string | undefined;
  set(name: string, value: string): void;
}

/** The same where nothing outlives the process. */
export function memoryKeyValue(): KeyValue {
  const values = new Map<string, string>();
  return {
    get: (name) => values.get(name),
    set: (name, value) => {
      values.set(name, value);
    },
  };
}
