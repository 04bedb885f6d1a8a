const secretText = [
  // A JSON Web Token, wherever it stands.
  /eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/g,
  /\b(Bearer|Basic) [\w\-.~+/=]{8,}/g,
  /\b(client_secret|client_assertion|access_token|refresh_token|sig|password)=[^&\s"]+/gi,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?-----END [A-Z ]*PRIVATE KEY-----/g,
];

/** A text with everything in it that looks like a secret taken out. */
export function redact(text: string): string {
  let clean = text;
  for (const pattern of secretText)
    clean = clean.replace(pattern, (_all, name?: string) =>
      typeof name === "string" ? `${name} [redacted]` : "[redacted]",
    );
  return clean;
}
