import { expect, test } from "bun:test";
import { notFound } from "../../domain/refusal.ts";
import { no, ok } from "../../domain/result.ts";
import type { Listener } from "../../usecases/operation.ts";
import { plain } from "../shared/paint.ts";
import { openScreen } from "../shared/screen.ts";
import { paced, runDashboard } from "./dashboard.ts";
import type { DashboardApp } from "./snapshot.ts";

const never = (): Promise<void> => new Promise(() => {});
const fail = (error: unknown): void => {
  throw error;
};

test("a look that a key asks for does not wait for the rest, and looks never run at the same time", async () => {
  const begun: (() => void)[] = [];
  const refresh = paced(never, new AbortController().signal, fail, () => new Promise((end) => void begun.push(end)));
  const settled = () => Bun.sleep(0);
  refresh.soon();
  refresh.now();
  expect(begun).toHaveLength(1);
  begun[0]?.();
  await settled();
  expect(begun).toHaveLength(2);
  begun[1]?.();
  await settled();
  refresh.soon();
  await settled();
  expect(begun).toHaveLength(2);
  refresh.now();
  await settled();
  expect(begun).toHaveLength(3);
});

test("the dashboard rings for what is new and needs its user, where notify.bell is on", async () => {
  for (const isOn of [true, false]) {
    const written: string[] = [];
    const over = new AbortController();
    const app = {
      version: "1",
      call: async (name: string) => {
        if (name === "event.list") return ok({ events: [], older: null, cursor: 0 });
        return name === "config.get" ? ok(isOn) : no(notFound("run", "r1"));
      },
      follow: async (_name: string, _request: object, listener: Listener<readonly object[]>) => {
        listener.onItem([{ type: "mail_sent" }]);
        listener.onItem([{ type: "attention" }]);
        over.abort();
        return ok({ cursor: 0 });
      },
    } as unknown as DashboardApp;
    const screen = openScreen({ write: (text) => written.push(text), size: () => ({ columns: 60, rows: 20 }) });
    const terminal = { screen, onKeys: () => {}, onResize: () => {}, onEnd: () => {} };
    const clock = { sleep: never, every: () => () => {} };
    const options = { scope: { all: false, run: undefined }, paint: plain, intervalMs: 1, clock, signal: over.signal };
    await runDashboard(app, terminal, options);
    expect(written.filter((text) => text === "\x07")).toHaveLength(isOn ? 1 : 0);
  }
});

test("the dashboard ends when its terminal is gone", async () => {
  let hangUp = (): void => {};
  const app = {
    version: "1",
    call: async (name: string) =>
      name === "event.list" ? ok({ events: [], older: null, cursor: 0 }) : no(notFound("run", "r1")),
    follow: (_name: string, _request: object, { signal }: { readonly signal: AbortSignal }) =>
      new Promise((resolve) => {
        signal.addEventListener("abort", () => resolve(ok({ cursor: 0 })));
        hangUp();
      }),
  } as unknown as DashboardApp;
  const terminal = {
    screen: openScreen({ write: () => {}, size: () => ({ columns: 60, rows: 20 }) }),
    onKeys: () => {},
    onResize: () => {},
    onEnd: (listener: () => void) => {
      hangUp = listener;
    },
  };
  const clock = { sleep: never, every: () => () => {} };
  const options = { scope: { all: false, run: undefined }, paint: plain, intervalMs: 1, clock };
  const ended = runDashboard(app, terminal, { ...options, signal: new AbortController().signal });
  expect(await Promise.race([ended, Bun.sleep(2_000)])).toEqual(ok(null));
});
