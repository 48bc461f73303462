import { useSyncExternalStore } from "react";

/** One timer for all ages on the page. It runs only while something shows one. */
const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;
let now = Date.now();

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => {
    now = Date.now();
    for (const tell of [...listeners]) tell();
  }, 1000);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** The time, rounded down to `every` milliseconds, so that a component draws only when its text changes. */
export const useNow = (every = 1000): number => useSyncExternalStore(subscribe, () => Math.floor(now / every) * every);
