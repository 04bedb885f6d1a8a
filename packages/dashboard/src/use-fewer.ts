import { useCallback, useRef } from "preact/hooks";

/** Calls that come quickly become one, and one more when it has ended: the last change is always read. */
export function useFewer(work: () => Promise<void>, ms: number): () => void {
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
