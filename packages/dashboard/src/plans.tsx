import { counted } from "@postern/core/counted.ts";
import { Glyph } from "./state.tsx";
import type { ClusterPage, FieldChange } from "./types.ts";

/** The steps that the controllers would begin now, and those that a policy withholds, with the fields that each changes. */
export function Plans({ page: { plans, picture } }: { page: ClusterPage }) {
  const open = plans.filter(
    ({ steps, withheld, failure }) => steps.length + withheld.length > 0 || failure !== undefined,
  );
  if (plans.length === 0) return <p class="quiet">Not known here.</p>;
  if (open.length === 0) {
    const isHealthy = picture.clusters.every(({ health }) => health === "Healthy");
    return (
      <p class="quiet">
        {isHealthy ? "No changes." : "No changes at the moment: see the cause above."}
      </p>
    );
  }
  return (
    <ul class="plans">
      {open.flatMap(({ controller, object, steps, withheld, failure }) => [
        ...[...steps, ...withheld].map((step) => (
          <li key={`${object} ${controller} ${step.do} ${step.name} ${step.why}`}>
            {withheld.includes(step) ? <span class="quiet">Withheld by policy: </span> : null}
            <strong>
              {step.do} {step.name}
            </strong>
            <span class="quiet">: {step.why}</span>
            <Changes changes={step.changes} />
          </li>
        )),
        ...(failure === undefined
          ? []
          : [
              <li key={`${object} ${controller}`}>
                <Glyph state="unknown" /> {controller}: {failure}
              </li>,
            ]),
      ])}
    </ul>
  );
}

function Changes({ changes }: { changes: readonly FieldChange[] }) {
  if (changes.length === 0) return null;
  return (
    <details>
      <summary>{counted(changes.length, "field")}</summary>
      <pre>
        {changes.map(({ path, from, to }) => (
          <span key={path}>
            {from === undefined ? null : <del>{`- ${path}: ${from}\n`}</del>}
            {to === undefined ? null : <ins>{`+ ${path}: ${to}\n`}</ins>}
          </span>
        ))}
      </pre>
    </details>
  );
}
