import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Actions } from "./actions.tsx";
import { Details } from "./details.tsx";
import { Picture } from "./picture.tsx";
import { Badge, NotRead } from "./state.tsx";
import { Steps } from "./steps.tsx";
import type { ActionButton, ClusterPage, Hop, Node } from "./types.ts";

/** One cluster: its picture, what would change, what was done, what is said of it, and where its names lead. */
export function Cluster(props: {
  name: string;
  page: ClusterPage;
  actions: readonly ActionButton[];
  act: (name: string, target: string) => Promise<void>;
}) {
  const { name, page, actions, act } = props;
  const [chosen, setChosen] = useState<Node>();
  const held = chosen && page.picture.nodes.find(({ id }) => id === chosen.id);
  const [summary] = page.picture.clusters;
  return (
    <>
      <section class="bar">
        <h1>{name}</h1>
        {summary ? <Badge state={summary.state}>{summary.reason}</Badge> : null}
        <span class="quiet">
          {summary?.kind}, {summary?.access}
        </span>
        <Actions actions={actions.filter(({ on }) => on === "cluster")} target={name} act={act} />
      </section>
      {summary?.message && summary.state !== "ok" ? <p class="banner">{summary.message}</p> : null}
      <NotRead unread={page.picture.unread} />
      <section class="drawn" aria-label="Picture">
        <Picture picture={page.picture} chosen={held?.id} choose={setChosen} />
        {held ? (
          <Details node={held} actions={actions} act={act} close={() => setChosen(undefined)} />
        ) : null}
      </section>
      <div class="columns">
        <Section title="What would change now">
          <Plans page={page} />
        </Section>
        <Section title="Where its names lead">
          <Traces page={page} />
        </Section>
        <Section title="Steps">
          {page.steps.length === 0 ? (
            <p class="quiet">nothing was done since the start</p>
          ) : (
            <Steps steps={page.steps} />
          )}
        </Section>
        <Section title="Conditions">
          <Conditions page={page} />
        </Section>
        <Section title="Events">
          <Events page={page} />
        </Section>
      </div>
    </>
  );
}

function Section({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <section>
      <h2>{title}</h2>
      {children}
    </section>
  );
}

function Plans({ page: { plans, picture } }: { page: ClusterPage }) {
  const told = plans.filter(({ steps, failure }) => steps.length > 0 || failure !== undefined);
  if (plans.length === 0) return <p class="quiet">not known here</p>;
  if (told.length === 0)
    return (
      <p class="quiet">
        {picture.clusters.every(({ state }) => state === "ok")
          ? "nothing: everything is as it should be"
          : "nothing: it waits, and its conditions say for what"}
      </p>
    );
  return (
    <ul class="plans">
      {told.flatMap(({ controller, object, steps, failure }) => [
        ...steps.map((step) => (
          <li key={`${object} ${controller} ${step.do} ${step.why}`}>
            <strong>{step.do}</strong> <span class="quiet">because {step.why}</span>
          </li>
        )),
        ...(failure === undefined
          ? []
          : [
              <li key={`${object} ${controller}`}>
                <Badge state="unknown">{controller}</Badge> {failure}
              </li>,
            ]),
      ])}
    </ul>
  );
}

function Traces({ page: { traces } }: { page: ClusterPage }) {
  if (traces.length === 0) return <p class="quiet">it has no names yet</p>;
  return (
    <ul class="traces">
      {traces.flatMap(({ host, traces: ways }) =>
        ways.map(({ network, hops, works, known }) => (
          <li key={`${host} ${network}`}>
            <details open={!works && known}>
              <summary>
                <Badge state={works ? "ok" : known ? "broken" : "unknown"}>
                  {works ? "works" : known ? "breaks" : "does not know the name"}
                </Badge>{" "}
                {host} <span class="quiet">from {network}</span>
              </summary>
              <ol>
                {hops.map((hop) => (
                  <HopLine key={`${hop.what} ${hop.name} ${hop.found}`} hop={hop} />
                ))}
              </ol>
            </details>
          </li>
        )),
      )}
    </ul>
  );
}

function HopLine({ hop: { what, name, state, found, remedy } }: { hop: Hop }) {
  return (
    <li>
      <Badge state={state}>{what}</Badge> {name} <span class="quiet">{found}</span>
      {remedy ? <p>Do this: {remedy}</p> : null}
    </li>
  );
}

function Conditions({ page: { conditions } }: { page: ClusterPage }) {
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">object</th>
          <th scope="col">condition</th>
          <th scope="col">reason</th>
          <th scope="col">message</th>
        </tr>
      </thead>
      <tbody>
        {conditions.flatMap(({ object, conditions: all }) =>
          all.map(({ type, status, reason, message }) => (
            <tr key={`${object} ${type}`}>
              <td>{object}</td>
              <td>
                <Badge state={status === "True" ? "ok" : status === "False" ? "broken" : "unknown"}>
                  {type}
                </Badge>
              </td>
              <td>{reason}</td>
              <td>{message}</td>
            </tr>
          )),
        )}
      </tbody>
    </table>
  );
}

function Events({ page: { events } }: { page: ClusterPage }) {
  if (events.length === 0) return <p class="quiet">none</p>;
  return (
    <ol class="events">
      {events.toReversed().map((event) => (
        <li key={`${event.at} ${event.object} ${event.reason} ${event.note}`}>
          <time dateTime={event.at}>{event.at.slice(11, 19)}</time>
          <Badge state={event.type === "Warning" ? "broken" : "ok"}>{event.reason}</Badge>{" "}
          {event.note} <span class="quiet">{event.object}</span>
        </li>
      ))}
    </ol>
  );
}
