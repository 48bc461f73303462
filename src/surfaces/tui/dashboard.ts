import type { Event } from "../../domain/event/event.ts";
import type { Refusal } from "../../domain/refusal.ts";
import { ok, type Result } from "../../domain/result.ts";
import { type Paint, plain } from "../shared/paint.ts";
import type { Terminal } from "../shared/terminal.ts";
import { pageAbout, perform, refused } from "./act.ts";
import { type FrameSize, frame, listHeight, shownRows } from "./frame.ts";
import { type Effect, firstModel, type Model, update } from "./model.ts";
import { type DashboardApp, look, lookAtRuns, type Scope, type Snapshot } from "./snapshot.ts";

/** Time for drawing and resting. News of the project comes by a stream, never by this clock. */
export interface DrawClock {
  sleep(ms: number): Promise<void>;
  /** Calls `work` again and again; answers how to end it. */
  every(ms: number, work: () => void): () => void;
}

export interface DashboardOptions {
  readonly scope: Scope;
  readonly paint: Paint;
  /** The shortest time between two looks. */
  readonly intervalMs: number;
  readonly signal: AbortSignal;
  readonly clock: DrawClock;
}

/** Events that the feed and the view of logs keep. */
const keptEvents = 300;
/** A look that took one part of time is followed by this many parts of rest: a large fleet costs no more than a small one. */
const restShare = 15;
/** Times such as `3m ago` grow old without any event. */
const clockMs = 5_000;

/**
 * The dashboard, until the person quits. Beats:
 *
 * events    the engine's stream tells what is new; the rows of the view are read again, at most once in the interval
 * keys      `update` says what a key does; effects are operations of the catalogue. A look that a key asks for does not
 *           wait for the rest after the last one
 * clock     the frame is drawn again with the time of now
 */
export async function runDashboard(
  app: DashboardApp,
  { screen, onKeys, onResize, onEnd }: Terminal,
  { scope, paint, intervalMs, signal, clock }: DashboardOptions,
): Promise<Result<null, Refusal>> {
  const over = new AbortController();
  const end = AbortSignal.any([signal, over.signal]);
  let model: Model = firstModel(scope);
  let events: readonly Event[] = [];
  let broken: unknown;
  /** Looks and keys run in the background: an error there ends the dashboard, and is told after it. */
  const fail = (error: unknown): void => {
    broken ??= error;
    over.abort();
  };
  const size = (): FrameSize => ({ columns: screen.columns(), rows: screen.rows() });
  const draw = (): void => screen.draw(frame(model, size(), paint, Date.now()));
  const rest = (tookMs: number): Promise<void> => clock.sleep(Math.max(intervalMs, tookMs * restShare));
  const refresh = paced(rest, end, fail, async () => {
    const { view } = model;
    const found = await look(app, view, model.scope, model.snapshot);
    // A view that was chosen meanwhile has not been read by this look.
    const isReading = model.isReading && model.view !== view;
    if (found.ok) model = { ...model, isReading, snapshot: { ...found.value, events } };
    else model = { ...model, said: refused(found.refusal) };
    draw();
  });
  const run = async (effect: Effect | undefined): Promise<void> => {
    switch (effect?.kind) {
      case "quit":
        over.abort();
        return;
      case "redraw":
        screen.forget();
        return;
      case "look":
        refresh.now();
        return;
      case "runs":
        model = { ...model, mode: { kind: "runs", runs: await lookAtRuns(app), at: 0 } };
        return;
      case "details":
        model = { ...model, mode: await pageAbout(app, effect.subject) };
        return;
      case "act":
        model = { ...model, said: { text: "working ...", isBad: false } };
        draw();
        model = { ...model, said: await perform(app, effect.act) };
        refresh.now();
        return;
      case undefined:
        return;
    }
  };
  let keysDone: Promise<void> = Promise.resolve();
  onKeys((keys) => {
    keysDone = keysDone
      .then(async () => {
        for (const key of keys) {
          const rows = shownRows(model, size(), paint, Date.now());
          const next = update(model, key, rows, { columns: screen.columns(), height: listHeight(size()) });
          model = next.model;
          await run(next.effect);
        }
        if (!end.aborted) draw();
      })
      .catch(fail);
  });
  onResize(() => {
    screen.forget();
    draw();
  });
  onEnd(() => over.abort());
  draw();
  const stopClock = clock.every(clockMs, draw);
  try {
    const latest = await app.call("event.list", { limit: keptEvents });
    if (!latest.ok) return latest;
    ({ events } = latest.value);
    const bell = await app.call("config.get", { key: "notify.bell" });
    const rings = bell.ok && bell.value === true;
    refresh.soon();
    const followed = await app.follow(
      "event.follow",
      { after: latest.value.cursor, intervalMs },
      {
        onItem: (fresh) => {
          if (rings && fresh.some(({ type }) => type === "attention")) screen.ring();
          events = [...events, ...fresh].slice(-keptEvents);
          if (!model.paused) refresh.soon();
        },
        signal: end,
      },
    );
    await keysDone;
    if (broken !== undefined) throw broken;
    return followed.ok ? ok(null) : followed;
  } finally {
    stopClock();
  }
}

/**
 * Runs `work` when asked, never twice at once, and once more if it was asked for meanwhile. It rests after each run;
 * `now` ends the rest.
 */
export function paced(
  rest: (tookMs: number) => Promise<void>,
  end: AbortSignal,
  fail: (error: unknown) => void,
  work: () => Promise<void>,
): { readonly soon: () => void; readonly now: () => void } {
  let isRunning = false;
  let isAsked = false;
  let isUrgent = false;
  let wake = (): void => {};
  const go = async (): Promise<void> => {
    isRunning = true;
    while (isAsked && !end.aborted) {
      [isAsked, isUrgent] = [false, false];
      const began = performance.now();
      await work();
      const woken = new Promise<void>((resolve) => {
        wake = resolve;
      });
      if (!isUrgent) await Promise.race([rest(performance.now() - began), woken]);
    }
    isRunning = false;
  };
  const soon = (): void => {
    isAsked = true;
    if (!isRunning) void go().catch(fail);
  };
  const now = (): void => {
    isUrgent = true;
    wake();
    soon();
  };
  return { soon, now };
}

/** One frame as plain text, for an output that is no terminal. */
export async function oneFrame(
  app: DashboardApp,
  scope: Scope,
  { columns }: { readonly columns: number },
): Promise<Result<string, Refusal>> {
  const latest = await app.call("event.list", { limit: 30 });
  if (!latest.ok) return latest;
  const found = await look(app, "overview", scope, undefined);
  if (!found.ok) return found;
  const paint = plain;
  const snapshot: Snapshot = { ...found.value, events: latest.value.events };
  const model = { ...firstModel(scope), isReading: false, snapshot };
  const rows = shownRows(model, { columns, rows: 0 }, paint, Date.now());
  const lines = frame(model, { columns, rows: rows.length + 5 }, paint, Date.now());
  // Without a terminal nothing can be selected, and no key can be pressed.
  return ok(
    lines
      .slice(0, -1)
      .map((line) => Bun.stripANSI(line).trimEnd())
      .join("\n")
      .trimEnd(),
  );
}
