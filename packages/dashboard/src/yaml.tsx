import { useState } from "preact/hooks";
import * as server from "./server.ts";
import type { ObjectText } from "./types.ts";

/** The objects of the cluster in Kubernetes, read when somebody asks for them. */
export function Yaml({ cluster }: { cluster: string }) {
  const [objects, setObjects] = useState<ObjectText[]>();
  const [problem, setProblem] = useState<string>();
  const load = () => {
    server.objects(cluster).then(setObjects, (error: Error) => setProblem(error.message));
  };
  return (
    <>
      <button type="button" onClick={load}>
        {objects === undefined ? "Show" : "Reload"}
      </button>
      {problem === undefined ? null : <p class="banner">{problem}</p>}
      {objects?.map(({ object, yaml }) => (
        <details key={object} class="yaml">
          <summary>{object}</summary>
          <pre>{yaml}</pre>
        </details>
      ))}
    </>
  );
}
