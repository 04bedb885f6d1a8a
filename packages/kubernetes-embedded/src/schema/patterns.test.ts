import { expect, test } from "vitest";
import { PatternError, regexOf } from "./patterns.ts";

test.each<[string, string, string, boolean]>([
  ["a dot is any character", "^a.b$", "a\rb", true],
  ["a dot is no new line", "^a.b$", "a\nb", false],
  ["a dot is a new line where s is set", "(?s)^a.b$", "a\nb", true],
  ["a flag holds for what follows", "a(?i)b", "aB", true],
  ["a flag does not hold for what is before", "a(?i)b", "Ab", false],
  ["a flag ends with its group", "(a(?i)b)c", "aBC", false],
  ["white space is that of ASCII", "^\\s$", "\u00a0", false],
  ["a class has a name", "^[[:alpha:]_]+$", "ab_", true],
  ["a name may be given to a group", "^(?P<x>a)$", "a", true],
  ["a text may be quoted", "^\\Qa.b\\E$", "a.b", true],
  ["a quoted text is as it stands", "^\\Qa.b\\E$", "axb", false],
  ["a text may have a beginning and an end", "\\Aa\\z", "a", true],
  ["a brace without numbers is a brace", "^a{b}$", "a{b}", true],
  ["a hyphen is escaped where it need not be", "^[a\\-z]+\\-$", "a--", true],
  ["a letter of any language", "^\\pL\\p{Greek}$", "éα", true],
  ["a character of two halves is one", "^.$", "😀", true],
])("%s", (_says, pattern, text, matches) => {
  expect(regexOf(pattern).test(text)).toBe(matches);
});

test.each(["a(", "a)", "[a", "a(?=b)", "(a)\\1", "a\\", "\\y", "a**"])(
  "%s is refused",
  (pattern) => {
    expect(() => regexOf(pattern)).toThrow(PatternError);
  },
);
