import { expect, test } from "vitest";
import { duplicateFields } from "./duplicates.ts";

test.each([
  ["{}", []],
  ["[]", []],
  [' { "a" : 1 , "b" : [ 1, {"c": null} ] } ', []],
  ['{"a":1,"a":2}', ["a"]],
  ['{"a":{"b":"}","b":true,"c":{"b":1}}}', ["a.b"]],
  ['{"a":[{"b":1},{"b":1,"b":2}]}', ["a[1].b"]],
  ['{"a\\"b":1,"a\\"b":"\\\\"}', ['a"b']],
  ['{"a":1,"a":2,"a":3}', ["a", "a"]],
])("of %s it finds %j", (text, found) => {
  expect(duplicateFields(text)).toEqual(found);
});
