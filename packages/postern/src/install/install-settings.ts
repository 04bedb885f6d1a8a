import { invalid } from "@postern/core/process/usage-error.ts";
import { parseUserTags } from "@postern/core/user-tags.ts";
import { ruleViolations } from "./rules.ts";
import { defaultSettings, formViolations, mergeSettings, type Settings } from "./settings.ts";

/**
 * Settings from what is given, with the defaults for the rest. All violations are reported together; `named` says them in
 * the words of the person who gave them, such as by flags.
 */
export function settingsFrom(
  given: unknown,
  options: { further?: readonly string[]; named?: (violation: string) => string } = {},
): Settings {
  const { further = [], named = (violation) => violation } = options;
  const settings = mergeSettings(defaultSettings(), given) as Settings;
  const form = formViolations(settings);
  const violations = [
    ...further,
    ...form,
    ...(form.length === 0 ? tagViolations(settings) : []),
    ...ruleViolations(settings),
  ];
  if (violations.length === 0) return settings;
  throw invalid(violations.map(named), "setting");
}

/** The operator would not start with these. The chart, which cannot tell, installs them. */
function tagViolations({ hosted: { azureTags } }: Settings): string[] {
  const parsed = parseUserTags(azureTags);
  return "wrong" in parsed ? [`hosted.azureTags cannot be used: ${parsed.wrong}`] : [];
}
