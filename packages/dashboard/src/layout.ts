/** What is to be laid out: sizes and what hangs together. */
export interface Drawing {
  nodes: { id: string; width: number; height: number; network: string | undefined }[];
  lines: { from: string; to: string }[];
  networks: { id: string }[];
}

export interface Box {
  id: string;
  x: number;
  y: number;
  width: number;
  height: number;
}

/** Where everything goes. */
export interface LaidOut {
  width: number;
  height: number;
  nodes: Box[];
  networks: Box[];
  lines: { from: string; to: string; points: { x: number; y: number }[] }[];
}

let worker: Worker | undefined;
let asked = 0;
const waiting = new Map<number, (laidOut: LaidOut | undefined) => void>();

/** Lay a picture out, in a worker; undefined where that cannot be done. */
export function layOut(drawing: Drawing): Promise<LaidOut | undefined> {
  worker ??= startWorker();
  const number = ++asked;
  return new Promise((resolve) => {
    waiting.set(number, resolve);
    worker?.postMessage({ number, drawing });
  });
}

function startWorker(): Worker {
  const started = new Worker("/layout-worker.js", { type: "module" });
  started.onmessage = ({ data }: MessageEvent<{ number: number; laidOut: LaidOut }>) => {
    waiting.get(data.number)?.(data.laidOut);
    waiting.delete(data.number);
  };
  started.onerror = () => {
    for (const give of waiting.values()) give(undefined);
    waiting.clear();
    worker = undefined;
  };
  return started;
}
