import { Environment } from "@marcbachmann/cel-js";
import { registerLists } from "./library/lists.ts";
import { registerMacros } from "./library/macros.ts";
import { registerFormats } from "./library/named-formats.ts";
import { registerNetworks } from "./library/networks.ts";
import { registerOptionals } from "./library/optionals.ts";
import { registerQuantities } from "./library/quantities.ts";
import { registerTexts } from "./library/texts.ts";
import { registerUrls } from "./library/urls.ts";
import { registerVersions } from "./library/versions.ts";

let known: Environment | undefined;

/** CEL with the functions of Kubernetes: made once, when the first rule is compiled. */
export function kubernetesEnvironment(): Environment {
  known ??= make();
  return known;
}

/** What the library has not got, see https://kubernetes.io/docs/reference/using-api/cel/. */
function make(): Environment {
  const environment = new Environment({ enableOptionalTypes: true });
  registerLists(environment);
  registerTexts(environment);
  registerNetworks(environment);
  registerQuantities(environment);
  registerUrls(environment);
  registerFormats(environment);
  registerVersions(environment);
  registerOptionals(environment);
  registerMacros(environment);
  return environment;
}
