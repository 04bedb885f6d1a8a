import { useEffect, useRef } from "preact/hooks";
import { Actions } from "./actions.tsx";
import { Badge } from "./state.tsx";
import type { ActionButton, Node } from "./types.ts";

/** All that is known of one thing in the picture. */
export function Details(props: {
  node: Node;
  actions: readonly ActionButton[];
  act: (name: string, target: string) => Promise<void>;
  close: () => void;
}) {
  const { node, actions, act, close } = props;
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    heading.current?.focus();
  }, [node.id]);
  const leave = () => {
    // Whoever came by the keyboard goes on where he was, also where the picture was drawn anew meanwhile.
    const box = document.querySelector<SVGElement>(".node.chosen");
    close();
    box?.focus();
  };
  return (
    <aside
      class="details"
      aria-label={`Details of ${node.label}`}
      onKeyDown={({ key }) => {
        if (key === "Escape") leave();
      }}
    >
      <button type="button" class="close" aria-label="Close" onClick={leave}>
        ×
      </button>
      <h3 tabIndex={-1} ref={heading}>
        {node.label}
      </h3>
      <p>
        <Badge state={node.state}>{node.reason}</Badge>
      </p>
      {node.message ? <p>{node.message}</p> : null}
      <dl>
        <dt>kind</dt>
        <dd>{node.kind.replace("-", " ")}</dd>
        {Object.entries(node.facts).map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
        {node.azureId ? (
          <div>
            <dt>id</dt>
            <dd class="id">{node.azureId}</dd>
          </div>
        ) : null}
      </dl>
      {node.azureId ? (
        <Actions
          actions={actions.filter(({ on }) => on === node.kind)}
          target={node.azureId}
          act={act}
        />
      ) : null}
    </aside>
  );
}
