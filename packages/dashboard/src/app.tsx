import { render } from "preact";
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { Budget } from "./budget.tsx";
import { Cluster } from "./cluster.tsx";
import { Overview } from "./overview.tsx";
import * as server from "./server.ts";
import { Theme } from "./theme.tsx";
import type { About, BudgetLine, ClusterPage, JournalStep, Picture } from "./types.ts";

/** How often everything is asked for at most, however much happens. */
const restMs = 700;
/** Steps that come together are shown together. */
const gatherMs = 250;
const latestSteps = 40;

/** The cluster that the address names; none for the overview. */
function placeInAddress(): string | undefined {
  const [, key] = /^#\/clusters\/(.+)$/.exec(location.hash) ?? [];
  if (key === undefined) return undefined;
  try {
    return decodeURI(key);
  } catch {
    // No cluster is called so, and the server says it.
    return key;
  }
}

/** The latest steps, each as it was heard last. */
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
  const [picture, setPicture] = useState<Picture>();
  const [page, setPage] = useState<{ key: string; page: ClusterPage }>();
  const [lines, setLines] = useState<BudgetLine[]>([]);
  const [steps, setSteps] = useState<JournalStep[]>([]);
  const [connected, setConnected] = useState(true);
  const [problem, setProblem] = useState<string>();
  const [place, setPlace] = useState(placeInAddress());
  const [said, setSaid] = useState("");

  const had = useRef(0);
  useEffect(() => {
    if (picture === undefined) return;
    // How long it takes from the data to the picture, and of how many clusters, for whoever measures it.
    requestAnimationFrame(() => {
      const { dataset } = document.documentElement;
      dataset.drawnMs = String(Math.round(performance.now() - had.current));
      dataset.drawnClusters = String(picture.clusters.length);
    });
  }, [picture]);

  const refresh = useFewer(async () => {
    // A page that nobody sees asks for nothing; it asks when it is seen again.
    if (document.hidden) return;
    const key = placeInAddress();
    try {
      const [whole, one, left] = await Promise.all([
        key === undefined ? server.overview() : undefined,
        key === undefined ? undefined : server.cluster(key),
        server.budget(),
      ]);
      had.current = performance.now();
      if (whole !== undefined) setPicture(whole);
      setLines(left);
      if (key !== undefined && one !== undefined) setPage({ key, page: one });
      setProblem(undefined);
    } catch (error) {
      setProblem(error instanceof Error ? error.message : "the server cannot be asked");
    }
  }, restMs);

  const main = useRef<HTMLElement>(null);
  useEffect(() => {
    const moved = () => {
      setPlace(placeInAddress());
      setProblem(undefined);
      // Whoever does not see the page change hears it.
      main.current?.focus();
      refresh();
    };
    addEventListener("hashchange", moved);
    document.addEventListener("visibilitychange", refresh);
    const came: JournalStep[] = [];
    const stop = server.listen({
      change: refresh,
      step: (step) => {
        // They come by the hundred, and each would draw the whole page anew.
        if (came.push(step) > 1) return;
        setTimeout(() => {
          const fresh = came.splice(0);
          setSteps((all) => withNewest(all, fresh));
        }, gatherMs);
      },
      connected: (yes) => {
        setConnected(yes);
        if (!yes) return;
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

  const act = useCallback(async (name: string, target: string) => {
    try {
      setSaid(await server.act(name, target));
    } catch (error) {
      setSaid(error instanceof Error ? error.message : "that did not work");
    }
    refresh();
  }, []);

  useEffect(() => {
    document.title = place === undefined ? "Postern" : `${place} · Postern`;
  }, [place]);

  const shown = page !== undefined && page.key === place ? page.page : undefined;
  const asking = problem === undefined ? `asking for ${place ?? "the overview"} …` : "";
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
          <a href="#/" aria-current={place === undefined ? "page" : undefined}>
            Overview
          </a>
          {place === undefined ? null : (
            <a href={`#/clusters/${place}`} aria-current="page">
              {place}
            </a>
          )}
        </nav>
        <Budget lines={lines} />
        <span class="about">
          {about === undefined
            ? ""
            : `${about.mode === "local" ? "local mode" : "operator"} ${about.version}`}
        </span>
        <Theme />
      </header>
      {connected ? null : (
        <p class="banner" role="alert">
          The server does not answer. What you see is what it said last; it is being asked again.
        </p>
      )}
      {problem === undefined || !connected ? null : (
        <p class="banner" role="alert">
          {problem}
        </p>
      )}
      <p class="said" role="status">
        {said}
      </p>
      <main id="main" tabIndex={-1} ref={main}>
        {place !== undefined && shown !== undefined ? (
          <Cluster key={place} name={place} page={shown} actions={about?.actions ?? []} act={act} />
        ) : place === undefined && picture !== undefined ? (
          <Overview picture={picture} steps={steps} actions={about?.actions ?? []} act={act} />
        ) : (
          <p class="quiet">{asking}</p>
        )}
      </main>
    </>
  );
}

/** Calls that come quickly become one, and one more when it is over: the last change is always seen. */
function useFewer(work: () => Promise<void>, ms: number): () => void {
  const now = useRef({ busy: false, again: false, work });
  now.current.work = work;
  return useCallback(() => {
    const { current } = now;
    const run = () => {
      current.busy = true;
      void current.work().finally(() => setTimeout(rested, ms));
    };
    const rested = () => {
      current.busy = false;
      if (!current.again) return;
      current.again = false;
      run();
    };
    if (current.busy) current.again = true;
    else run();
  }, []);
}

const root = document.getElementById("app");
if (root) {
  root.replaceChildren();
  render(<App />, root);
}
