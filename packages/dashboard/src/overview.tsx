import { counted } from "@postern/core/counted.ts";
import { useMemo } from "preact/hooks";
import { Age } from "./ages.tsx";
import { Appliances } from "./appliances.tsx";
import { find } from "./find.ts";
import { Fleet } from "./fleet.tsx";
import { addressOf, type Place } from "./place.ts";
import { Breakable, Glyph, HealthMark, NotRead, Words, words } from "./state.tsx";
import { Steps } from "./steps.tsx";
import { Table } from "./table.tsx";
import type { ClusterSummary, Overview as Data, JournalStep } from "./types.ts";

/** From so many clusters on they are rows of a table; below that each is a tile. */
const leastRows = 12;

/** All clusters, the worst first, and what concerns all of them. */
export function Overview(props: {
  data: Data;
  place: Place;
  go: (place: Partial<Place>, replace?: boolean) => void;
  steps: readonly JournalStep[];
}) {
  const { data, place, go, steps } = props;
  const { picture, fleet } = data;
  const { clusters, observedAt } = picture;
  const { search, health, sort, descending } = place;
  const found = useMemo(
    () => find(clusters, { search, sort, descending, ...(health && { health }) }),
    [clusters, search, health, sort, descending],
  );
  const isTable = clusters.length >= leastRows;
  return (
    <>
      <section class="bar" aria-label="Clusters">
        <h1>{counted(clusters.length, "cluster")}</h1>
        <label class="search">
          <span class="hidden">Search clusters</span>
          <input
            type="search"
            placeholder="Name, host, address, alias or id"
            value={search}
            onInput={({ currentTarget }) => go({ ...place, search: currentTarget.value }, true)}
          />
        </label>
        <span class="quiet">
          checked <Age time={observedAt} />
        </span>
      </section>
      <Fleet
        clusters={clusters}
        fleet={fleet}
        only={health}
        filter={(wanted) => {
          const { health: _, ...rest } = place;
          go({ ...rest, ...(wanted && { health: wanted }) }, true);
        }}
      />
      <NotRead unread={picture.unread} />
      {found.length === 0 ? (
        <p class="quiet">
          {clusters.length === 0 ? "There is no cluster yet." : "No cluster matches."}
        </p>
      ) : isTable ? (
        <Table
          clusters={found}
          observedAt={observedAt}
          sort={sort}
          descending={descending}
          sortBy={(column) =>
            go({ ...place, sort: column, descending: column === sort && !descending }, true)
          }
        />
      ) : (
        <ul class="tiles" aria-label="Clusters">
          {found.map((each) => (
            <Tile key={each.key} cluster={each} />
          ))}
        </ul>
      )}
      <Appliances nodes={picture.nodes} />
      {steps.length > 0 ? (
        <section>
          <h2>Latest steps</h2>
          <Steps steps={steps} />
        </section>
      ) : null}
    </>
  );
}

const hops = ["endpoint", "link service", "load balancer", "backends"];

function Tile({ cluster }: { cluster: ClusterSummary }) {
  const { key, health, access, causes, since, path, endpoints, hosts } = cluster;
  const [cause] = causes;
  const begun = cause?.since ?? since;
  const states = path.map((state, at) => `${hops[at]} ${words[state]}`).join(", ");
  return (
    <li>
      <a class={`tile card cluster ${health}`} href={addressOf({ cluster: key })}>
        <span class="row">
          <strong>
            <Breakable text={key} />
          </strong>
          <HealthMark health={health} of={key} />
        </span>
        {access === "Public" && path.every((state) => state === "none") ? (
          <span class="quiet">no private link was requested</span>
        ) : (
          <span class="chain" role="img" aria-label={states}>
            {path.map((state, at) => (
              <span key={hops[at]} aria-hidden="true">
                {at === 0 ? "" : <span class="arrow">→</span>}
                <span class="hop">
                  <Glyph state={state} /> {hops[at]}
                </span>
              </span>
            ))}
          </span>
        )}
        {cause ? (
          <span class="cause" title={cause.message}>
            <Words text={cause.message} />
          </span>
        ) : null}
        <span class="quiet small last">
          {begun ? (
            <>
              <Age time={begun} as="for" />
              {" · "}
            </>
          ) : null}
          {[access, endpoints[0], hosts.find((host) => !host.startsWith("*"))]
            .filter(Boolean)
            .join(" · ")}
        </span>
      </a>
    </li>
  );
}
