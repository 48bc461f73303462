import {
  engineView,
  idleReportView,
  installedEngineView,
  startedEngineView,
  stoppedEngineView,
} from "../../../contract/views/project.ts";
import { overviewMerges } from "../../../contract/views/run.ts";
import type { Refusal } from "../../../domain/refusal.ts";
import { ok, type Result } from "../../../domain/result.ts";
import { visibleLine } from "../../../domain/text/visible.ts";
import type { EngineReport, EngineStop, IdleReport } from "../../../usecases/engine/control.ts";
import type { Workload } from "../../../usecases/engine/engine-work.ts";
import { exits } from "../../shared/exits.ts";
import { duration } from "../../shared/format.ts";
import type { App } from "../app.ts";
import type { Handler, Paint } from "../command.ts";
import { integer, isOn } from "../given.ts";
import { hintLine, successLine, warningLine } from "../marks.ts";
import { mergeLines } from "./merge-render.ts";
import { decisionLines, questionLines } from "./operator-render.ts";

export const status: Handler = async ({ app, io }) => {
  const found = await app.call("engine.status", {});
  if (!found.ok) return found;
  const report = found.value;
  const log = report.log === null ? [] : [`Log: ${visibleLine(report.log)}`];
  const full = report.fullDisk === null ? [] : [warningLine(io.paint, visibleLine(report.fullDisk))];
  return ok({
    json: engineView(report),
    text: [headline(report), ...full, workLine(report), checkLine(report), ...log].join("\n"),
  });
};

function headline({ running, answers, pid, version, uptimeMs, socket }: EngineReport): string {
  if (!running) return "Engine: not running";
  const line = `Engine: pid ${pid}, version ${version}, up ${duration(uptimeMs ?? 0)}, socket ${socket}`;
  if (answers !== false) return line;
  return `${line}\nIt does not answer: its process may be stopped or frozen. Replace it with: ov engine start`;
}

export const start: Handler = async ({ app, io }) => {
  const started = await app.call("engine.start", {});
  if (!started.ok) return started;
  const { pid } = started.value;
  const words = started.value.started ? "Engine started, pid" : "Engine is running, pid";
  return ok({
    json: startedEngineView(started.value),
    text: successLine(io.paint, words, String(pid)),
    quietText: String(pid),
  });
};

export const stop: Handler = async ({ app, io }) => {
  const done = await app.call("engine.stop", {});
  if (!done.ok) return done;
  const { stopped, runningTurns } = done.value;
  if (runningTurns > 0) io.warn(`turns that go on: ${runningTurns}; when one of them ends, an engine starts again`);
  const exit = stopped ? exits.ok : exits.timeout;
  return ok({ json: stoppedEngineView(done.value), text: line(io.paint, done.value), quietText: "", exit });
};

function line(paint: Paint, { wasRunning, stopped, pid }: EngineStop): string {
  if (!wasRunning) return "No engine is running.";
  if (stopped) return successLine(paint, "Engine stopped, pid", String(pid));
  return warningLine(paint, `engine ${pid} was asked to leave but is still there`, "ov engine status");
}

export const install: Handler = async ({ app, flags, io }) => {
  const print = isOn(flags.print);
  const done = await app.call("engine.install", { print });
  if (!done.ok) return done;
  const { path, text, written, enable } = done.value;
  if (print) return ok({ json: installedEngineView(done.value), text });
  const head = successLine(io.paint, written ? "Wrote" : "Already there:", visibleLine(path));
  const next = [
    `Switch it on: ${enable}`,
    hintLine(io.paint, "to have it run before you log in: loginctl enable-linger"),
  ];
  return ok({ json: installedEngineView(done.value), text: [head, ...next].join("\n"), quietText: path });
};

const workLine = ({ runningTurns, queuedTurns }: Workload): string =>
  `Turns: ${runningTurns} running, ${queuedTurns} queued`;

const checkLine = ({ runningChecks, waitingChecks }: Workload): string =>
  `Gate checks: ${runningChecks} running, ${waitingChecks} waiting`;

export const runUntilIdle: Handler = async ({ app, flags, io }) => {
  const seconds = integer(flags.timeout);
  const timeoutMs = seconds === undefined ? undefined : seconds * 1000;
  const over = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => over.abort());
  const done = await app.follow("engine.runUntilIdle", { timeoutMs }, { signal: over.signal });
  if (!done.ok) return done;
  const { ending } = done.value;
  const { exit, words } = endings[ending];
  const waiting = await waitingLines(app, io.paint);
  if (!waiting.ok) return waiting;
  const counts = `${words} ${workLine(done.value)}`;
  const head = ending !== "idle" ? counts : waiting.value.length === 0 ? words : "Nothing is left to do without you.";
  const text = [head, ...waiting.value].join("\n");
  return ok({ json: idleReportView(done.value), text, quietText: "", wraps: true, exit });
};

/** What waits for a person, in the lines of `ov status`; nothing where nothing waits. */
async function waitingLines(app: App, paint: Paint): Promise<Result<readonly string[], Refusal>> {
  const shown = await app.call("status.show", { all: false, mailbox: "operator" });
  if (!shown.ok) return shown;
  const merges = overviewMerges(shown.value);
  const { decisions, questions } = shown.value;
  return ok([
    ...(merges.pending === 0 ? [] : mergeLines(paint, merges)),
    ...decisionLines(paint, decisions),
    ...questionLines(paint, questions),
  ]);
}

const endings: Readonly<Record<IdleReport["ending"], { readonly exit: number; readonly words: string }>> = {
  idle: { exit: exits.ok, words: "Nothing is left to do." },
  timeout: { exit: exits.timeout, words: "The time is up." },
  interrupted: { exit: exits.interrupted, words: "Interrupted." },
};

export const mcp: Handler = async ({ app }) => {
  const served = await app.serveTools();
  return served.ok ? ok({ json: {}, text: "" }) : served;
};
