import type { ActionButton } from "./types.ts";

/** Buttons that break things, in local mode, and what is to be done about it. */
export function Actions(props: {
  actions: readonly ActionButton[];
  target: string;
  act: (name: string, target: string) => Promise<void>;
}) {
  const { actions, target, act } = props;
  if (actions.length === 0) return null;
  return (
    <fieldset class="actions" aria-label="Try it">
      {actions.map(({ name, label, about }) => (
        <button key={name} type="button" title={about} onClick={() => void act(name, target)}>
          {label}
        </button>
      ))}
    </fieldset>
  );
}
