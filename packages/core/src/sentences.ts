import { redact } from "./redact.ts";

/** A message says what, why and what to do. In the code its parts are kept apart by this; what people read are sentences. */
const separator = " · ";

/** The parts of a message, without secrets. What a secret begins with must be as it was when it is searched for, so this is first. */
export function partsOf(message: string): string[] {
  return redact(message).split(separator).filter(Boolean);
}

/** A message as people read it. */
export function messageInSentences(message: string): string {
  return partsOf(message).map(sentence).join(" ");
}

/** A sentence as people write it. What begins with a name in small letters, such as an id or a command, stays as it is. */
export function sentence(text: string): string {
  const trimmed = text.trim();
  const [first = ""] = trimmed.split(" ");
  const isName = /[/.\-=:@]|[a-z][A-Z]/.test(first) || /^(az|kubectl|postern)$/.test(first);
  return endSentence(isName ? trimmed : trimmed.charAt(0).toUpperCase() + trimmed.slice(1));
}

/** A text with the end of a sentence, unless it has one or is a command to copy. */
export function endSentence(text: string): string {
  return /[.!?:…]$/.test(text) || /^(az|kubectl|postern) /.test(text) ? text : `${text}.`;
}
