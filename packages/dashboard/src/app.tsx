import { render } from "preact";
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { Age } from "./ages.tsx";
import { Cluster } from "./cluster.tsx";
import { Faults } from "./faults.tsx";
import { Overview } from "./overview.tsx";
import { addressOf, type Place, placeIn } from "./place.ts";
import * as server from "./server.ts";
import { asStale, doubtOf } from "./stale.ts";
import { healthOrder, markOf } from "./state.tsx";
import { Theme } from "./theme.tsx";
import { beginTimeline, observe, type Timeline } from "./timeline.ts";
import type {
  About,
  ClusterPage,
  Fault,
  JournalStep,
  Overview as OverviewData,
  Picture,
} from "./types.ts";
import { useFewer } from "./use-fewer.ts";

/** How often everything is read at most, however much happens. */
const restMs = 500;
/** Steps that come together are shown together. */
const gatherMs = 250;
const latestSteps = 40;
/** After a read that failed, and while the page is hidden: its title is still seen among other tabs. */
const retryMs = 2_000;
const hiddenMs = 60_000;
/** How often the age of the data is looked at. */
const ageEveryMs = 5_000;
/** While a fault is watched, everything is read so often, and for so long. */
const watchEveryMs = 1_000;
const watchMs = 5 * 60_000;

/** The latest steps, each as it was sent last. */
function withNewest(all: readonly JournalStep[], fresh: readonly JournalStep[]): JournalStep[] {
  const byNumber = new Map<number, JournalStep>();
  for (const step of [...all, ...fresh]) {
    byNumber.delete(step.number);
    byNumber.set(step.number, step);
  }
  return [...byNumber.values()].slice(-latestSteps);
}

function App() {
  const [about, setAbout] = useState<About>();
  const [data, setData] = useState<OverviewData>();
  const [page, setPage] = useState<{ key: string; page: ClusterPage }>();
  const [steps, setSteps] = useState<JournalStep[]>([]);
  const [connected, setConnected] = useState(true);
  const [problem, setProblem] = useState<string>();
  const [failures, setFailures] = useState(0);
  const [ageMs, setAge] = useState(0);
  const [place, setPlace] = useState<Place>(placeIn(location.hash));
  const [timeline, setTimeline] = useState<Timeline>();
  const [failure, setFailure] = useState("");
  const [isBreaking, setBreaking] = useState(false);

  const hadAt = useRef(0);
  useEffect(() => {
    if (data === undefined) return;
    // From the data to the drawn page, and of how many clusters, for whoever measures it.
    requestAnimationFrame(() => {
      const { dataset } = document.documentElement;
      dataset.drawnMs = String(Math.round(performance.now() - hadAt.current));
      dataset.drawnClusters = String(data.picture.clusters.length);
    });
  }, [data]);

  const watched = useRef<Timeline | undefined>(undefined);
  watched.current = timeline;
  const refresh = useFewer(async () => {
    if (document.hidden && performance.now() - hadAt.current < hiddenMs) return;
    const key = placeIn(location.hash).cluster;
    try {
      const [whole, one] = await Promise.all([
        key === undefined || watched.current !== undefined ? server.overview() : undefined,
        key === undefined ? undefined : server.cluster(key),
      ]);
      hadAt.current = performance.now();
      if (whole !== undefined) setData(whole);
      if (key !== undefined && one !== undefined) setPage({ key, page: one });
      setProblem(undefined);
      setFailures(0);
      const pictures = [one?.picture, whole?.picture].filter((each) => each !== undefined);
      setTimeline((before) => before && watch(before, pictures));
    } catch (error) {
      setProblem(wordsOf(error));
      if (error instanceof server.Refused && error.status === 404) return setPage(undefined);
      setFailures(failures + 1);
      // Once: whoever is overloaded is not helped by more requests.
      if (failures === 0) setTimeout(refresh, retryMs);
    }
  }, restMs);

  const main = useRef<HTMLElement>(null);
  useEffect(() => {
    let before = placeIn(location.hash).cluster;
    const moved = () => {
      const next = placeIn(location.hash);
      setPlace(next);
      setProblem(undefined);
      // Whoever does not see the page change hears it.
      if (next.cluster !== before) main.current?.focus();
      before = next.cluster;
      refresh();
    };
    addEventListener("hashchange", moved);
    document.addEventListener("visibilitychange", refresh);
    const came: JournalStep[] = [];
    const stop = server.listen({
      change: refresh,
      step: (step) => {
        // They come by the hundred, and each would draw the whole page.
        if (came.push(step) > 1) return;
        setTimeout(() => {
          const fresh = came.splice(0);
          setSteps((all) => withNewest(all, fresh));
        }, gatherMs);
      },
      connected: (isConnected) => {
        setConnected(isConnected);
        if (!isConnected) return;
        // It may be another one by now.
        void server.about().then(setAbout, () => undefined);
        refresh();
      },
    });
    return () => {
      removeEventListener("hashchange", moved);
      document.removeEventListener("visibilitychange", refresh);
      stop();
    };
  }, []);

  const observedAt = (place.cluster === undefined ? data : page?.page)?.picture.observedAt;
  useEffect(() => {
    const count = () => setAge(observedAt ? server.serverNow() - Date.parse(observedAt) : 0);
    count();
    const timer = setInterval(count, ageEveryMs);
    return () => clearInterval(timer);
  }, [observedAt]);

  const isWatching = timeline !== undefined && !timeline.isOver;
  useEffect(() => {
    if (!isWatching) return;
    const timer = setInterval(refresh, watchEveryMs);
    const end = setTimeout(() => clearInterval(timer), watchMs);
    return () => {
      clearInterval(timer);
      clearTimeout(end);
    };
  }, [isWatching, timeline?.startedAt]);

  const go = useCallback((next: Partial<Place>, replace = false) => {
    const address = addressOf(next);
    if (!replace) {
      location.hash = address;
      return;
    }
    // Neither every letter of a search nor every panel is a step back.
    history.replaceState(null, "", address);
    setPlace(placeIn(address));
  }, []);

  const inject = useCallback(async (fault: Fault, cluster: string, endpoint: string) => {
    const at = Date.now();
    try {
      const message = await server.inject(fault.name, endpoint);
      setFailure("");
      setTimeline(beginTimeline(fault.label, cluster, message, at));
    } catch (error) {
      setFailure(error instanceof Error ? error.message : "The fault could not be injected.");
    }
    refresh();
  }, []);

  // What a page shows of health comes from these pictures and from nowhere else.
  const reading = { isConnected: connected, failures, failure: problem, ageMs };
  const doubt = doubtOf(reading);
  const whole = useMemo(
    () => (data && doubt ? { ...data, picture: asStale(data.picture, doubt) } : data),
    [data, doubt?.message],
  );
  const shown = useMemo(() => {
    if (page === undefined || page.key !== place.cluster) return undefined;
    return doubt ? { ...page.page, picture: asStale(page.page.picture, doubt) } : page.page;
  }, [page, place.cluster, doubt?.message]);
  const picture = place.cluster === undefined ? whole?.picture : shown?.picture;
  const isLost = picture?.operator.state === "lost";
  const isStale = doubt !== undefined || isLost;

  // Before the browser paints: the title never disagrees with the page.
  useLayoutEffect(() => {
    document.title = titleOf(place.cluster, picture);
    document.documentElement.classList.toggle("stale", isStale);
  }, [place.cluster, picture, isStale]);

  return (
    <>
      <button type="button" class="skip" onClick={() => main.current?.focus()}>
        Skip to the content
      </button>
      <header>
        <a class="home" href="#/" aria-label="Postern, overview">
          <img src="/icon.svg" alt="" width="24" height="24" /> Postern
        </a>
        <nav aria-label="Place">
          <a href="#/" aria-current={place.cluster === undefined ? "page" : undefined}>
            Overview
          </a>
          {place.cluster === undefined ? null : (
            <a href={addressOf({ cluster: place.cluster })} aria-current="page">
              {place.cluster}
            </a>
          )}
        </nav>
        <span class="quiet version">
          {about ? `${about.mode === "local" ? "local mode" : "operator"} ${about.version}` : ""}
        </span>
        {about && about.actions.length > 0 ? (
          <button
            type="button"
            class="toggle"
            aria-expanded={isBreaking}
            onClick={() => setBreaking(!isBreaking)}
          >
            {isBreaking ? "Close faults" : "Inject a fault"}
          </button>
        ) : null}
        <Theme />
      </header>
      {doubt ? (
        <p class="banner" role="alert">
          {doubt.message}{" "}
          {picture ? (
            <>
              This page is as of <Age time={picture.observedAt} />.{" "}
            </>
          ) : null}
          {doubt.remedy}
        </p>
      ) : null}
      {doubt === undefined && isLost ? (
        <p class="banner" role="alert">
          No operator is running: conditions are not updated, and nothing is repaired.
        </p>
      ) : null}
      {problem === undefined || doubt ? null : (
        <p class="banner" role="alert">
          {problem}
        </p>
      )}
      {failure === "" ? null : (
        <p class="banner" role="alert">
          {failure}
        </p>
      )}
      <main id="main" tabIndex={-1} ref={main}>
        {place.cluster !== undefined && shown !== undefined ? (
          <Cluster
            key={place.cluster}
            name={place.cluster}
            page={shown}
            place={place}
            go={go}
            portal={about?.portal}
          />
        ) : place.cluster === undefined && whole !== undefined ? (
          <Overview data={whole} place={place} go={go} steps={steps} />
        ) : (
          <p class="quiet">{problem === undefined ? "Loading …" : ""}</p>
        )}
      </main>
      {isBreaking ? (
        <Faults
          faults={about?.actions ?? []}
          clusters={picture?.clusters ?? []}
          cluster={place.cluster}
          timeline={timeline}
          inject={inject}
        />
      ) : null}
    </>
  );
}

function wordsOf(error: unknown): string {
  if (error instanceof server.Refused) return error.message;
  return (error as Error).name === "TimeoutError"
    ? "the server did not answer in time"
    : "the server could not be read";
}

/** The timeline with what these pictures show of its cluster. */
function watch(timeline: Timeline, pictures: readonly Picture[]): Timeline {
  for (const { clusters, operator } of pictures) {
    const summary = clusters.find(({ key }) => key === timeline.cluster);
    if (summary) return observe(timeline, summary, operator.state, Date.now());
  }
  return timeline;
}

/** The title of the tab: the mark of what is worst, so that it can be seen among other tabs. */
function titleOf(cluster: string | undefined, picture: Picture | undefined): string {
  const clusters = picture?.clusters ?? [];
  const worst = healthOrder.find((health) => clusters.some((each) => each.health === health));
  if (worst === undefined) return cluster === undefined ? "Postern" : `${cluster} · Postern`;
  if (cluster !== undefined) return `${markOf(worst)} ${cluster} ${worst} · Postern`;
  const count = clusters.filter(({ health }) => health === worst).length;
  return `${markOf(worst)} ${count} ${worst} · Postern`;
}

const root = document.getElementById("app");
if (root) {
  root.replaceChildren();
  render(<App />, root);
}
