import type { Store } from "../ports/store.ts";
import type { IdleReport } from "../surfaces/cli/facets/engine.ts";
import { isIdle } from "../usecases/engine/engine-work.ts";
import { engineMain } from "./engine-main.ts";
import { clockFor, openStore, type Project, settingsOf } from "./project.ts";

const lookMs = 100;
/** A supervisor that has settled its turn looks for an engine and must still find us, lest it start one behind our back. */
const lastWordsMs = 300;

/** Drives the engine's loop in this process until nothing is left, or waits while another engine does. */
export async function runUntilIdle(
  project: Project,
  options: { readonly timeoutMs: number | undefined; readonly anotherEngine: () => Promise<boolean> },
): Promise<IdleReport["ending"]> {
  const stop = new AbortController();
  let ending: IdleReport["ending"] = "idle";
  const end = (why: IdleReport["ending"]): void => {
    if (!stop.signal.aborted) ending = why;
    stop.abort();
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => end("interrupted"));
  const timer = options.timeoutMs === undefined ? undefined : setTimeout(() => end("timeout"), options.timeoutMs);
  const store = openStore(project, { life: "process", readOnly: true });
  try {
    while (!stop.signal.aborted) {
      if (!(await options.anotherEngine())) await engineMain(project, { stop: stop.signal, adapt: leavingAtOnce });
      if (stop.signal.aborted || (await nothingIsLeft(project, store))) break;
      await rest(stop.signal);
    }
    return ending;
  } finally {
    clearTimeout(timer);
    await store.close();
  }
}

function leavingAtOnce(project: Project): Project {
  const { config } = project;
  return { ...project, config: { ...config, engine: { ...config.engine, idleExitMs: lastWordsMs } } };
}

function nothingIsLeft(project: Project, store: Store): Promise<boolean> {
  const now = clockFor(project.env).now();
  return store.read((tx) => isIdle(tx, { now, settings: settingsOf(project) }));
}

function rest(stop: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, lookMs);
    stop.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
