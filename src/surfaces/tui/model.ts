import type { RunDetail } from "../../usecases/runs/read-runs.ts";
import { edited, type Key } from "../shared/keys.ts";
import type { Row, Subject } from "./rows.ts";
import { type Scope, type Snapshot, type ViewName, viewNames } from "./snapshot.ts";

/**
 * What the keyboard does.
 *
 * browse    moves through the rows of a view; the keys for acting ask first
 * filter    writes what rows must contain; Enter keeps it, Escape drops it
 * confirm   y does what was asked for, any other key does not
 * write     writes a line for an act; Enter does it, Escape does not
 * page      shows text; Escape goes back
 * runs      chooses a run; Enter takes it, Escape does not
 */
export type Mode =
  | { readonly kind: "browse" }
  | { readonly kind: "filter"; readonly before: string }
  | { readonly kind: "confirm"; readonly question: string; readonly act: Act }
  | { readonly kind: "write"; readonly prompt: string; readonly text: string; readonly act: (text: string) => Act }
  | { readonly kind: "page"; readonly title: string; readonly lines: readonly string[]; readonly top: number }
  | { readonly kind: "runs"; readonly runs: readonly RunDetail[]; readonly at: number };

/** What a person asked for, as the operation that does it. */
export type Act =
  | { readonly kind: "nudge"; readonly agent: string }
  | { readonly kind: "stop"; readonly agent: string }
  | { readonly kind: "message"; readonly to: string; readonly text: string }
  | { readonly kind: "answer"; readonly id: string; readonly text: string }
  | { readonly kind: "decide"; readonly id: string; readonly option: string }
  | { readonly kind: "approve"; readonly merge: number }
  | { readonly kind: "reject"; readonly merge: number; readonly reason: string }
  | { readonly kind: "undo"; readonly operation: string };

/** What the loop does after a key. */
export type Effect =
  | { readonly kind: "quit" }
  | { readonly kind: "look" }
  | { readonly kind: "redraw" }
  | { readonly kind: "act"; readonly act: Act }
  | { readonly kind: "details"; readonly subject: Subject }
  | { readonly kind: "runs" };

export interface Model {
  readonly view: ViewName;
  readonly mode: Mode;
  readonly scope: Scope;
  /** Rows must contain this. */
  readonly filter: string;
  /** The key of the selected row of each view; a row that is gone hands its place to the one below it. */
  readonly selected: Readonly<Partial<Record<ViewName, string>>>;
  readonly paused: boolean;
  /** The outcome of the last act. */
  readonly said: { readonly text: string; readonly isBad: boolean } | null;
  readonly snapshot: Snapshot | undefined;
  /** The rows of the view are being read for the first time since it was chosen. */
  readonly isReading: boolean;
}

export const firstModel = (scope: Scope): Model => ({
  view: "overview",
  mode: { kind: "browse" },
  scope,
  filter: "",
  selected: {},
  paused: false,
  said: null,
  snapshot: undefined,
  isReading: true,
});

export interface Update {
  readonly model: Model;
  readonly effect?: Effect;
}

/** The room for rows and pages. */
export interface Room {
  readonly columns: number;
  readonly height: number;
}

/** One key, given the rows that are shown and the room for them. */
export function update(model: Model, key: Key, rows: readonly Row[], { columns, height }: Room): Update {
  if (key === "ctrl-c") return { model, effect: { kind: "quit" } };
  if (key === "ctrl-l") return { model, effect: { kind: "redraw" } };
  switch (model.mode.kind) {
    case "browse":
      return browse(model, key, rows, height);
    case "filter":
      return typeFilter(model, model.mode.before, key);
    case "confirm": {
      const { act } = model.mode;
      const done = backToBrowse(model);
      if (key === "y" || key === "Y") return { model: done, effect: { kind: "act", act } };
      return { model: { ...done, said: { text: "nothing was done", isBad: false } } };
    }
    case "write":
      return write(model, model.mode, key);
    case "page": {
      const { mode } = model;
      if (["escape", "q", "enter", "left"].includes(key)) return { model: backToBrowse(model) };
      const { length } = pageLines(mode, columns);
      const top = Math.min(Math.max(0, length - height), Math.max(0, mode.top + stepOf(key, height, length)));
      return { model: { ...model, mode: { ...mode, top } } };
    }
    case "runs":
      return chooseRun(model, model.mode, key);
  }
}

/** A page as lines that fit the screen. */
export const pageLines = ({ title, lines }: Extract<Mode, { kind: "page" }>, columns: number): readonly string[] =>
  [title, "", ...lines].flatMap((line) => Bun.wrapAnsi(line, columns, { hard: true }).split("\n"));

const backToBrowse = (model: Model): Model => ({ ...model, mode: { kind: "browse" } });

/** How far a key moves; 0 for other keys. */
function stepOf(key: Key, height: number, length: number): number {
  switch (key) {
    case "up":
    case "k":
      return -1;
    case "down":
    case "j":
      return 1;
    case "pageup":
      return -Math.max(1, height - 1);
    case "pagedown":
    case " ":
      return Math.max(1, height - 1);
    case "home":
    case "g":
      return -length;
    case "end":
    case "G":
      return length;
    default:
      return 0;
  }
}

function browse(model: Model, key: Key, rows: readonly Row[], height: number): Update {
  const step = stepOf(key, height, rows.length);
  if (step !== 0) return { model: select(model, rows, step) };
  const view = viewNames[Number(key) - 1];
  if (view !== undefined) return { model: shown(model, view), effect: { kind: "look" } };
  if (key === "tab" || key === "back-tab") {
    const at = viewNames.indexOf(model.view) + (key === "tab" ? 1 : viewNames.length - 1);
    return { model: shown(model, viewNames[at % viewNames.length] ?? "overview"), effect: { kind: "look" } };
  }
  const subject = selectedRow(model, rows)?.subject ?? null;
  switch (key) {
    case "q":
      return { model, effect: { kind: "quit" } };
    case "?":
      return { model: { ...model, mode: { kind: "page", title: "Keys", lines: helpLines, top: 0 } } };
    case "/":
      return { model: { ...model, mode: { kind: "filter", before: model.filter } } };
    case "escape":
      return { model: { ...model, filter: "", said: null } };
    case "p":
      return { model: { ...model, paused: !model.paused }, ...(model.paused ? { effect: { kind: "look" } } : {}) };
    case "r":
      return { model, effect: { kind: "runs" } };
    case "enter":
      return subject === null ? { model } : { model, effect: { kind: "details", subject } };
    default:
      return act(model, key, subject);
  }
}

const shown = (model: Model, view: ViewName): Model => ({ ...model, view, said: null, isReading: true });

/** The keys that change something. Each of them asks first. */
function act(model: Model, key: Key, subject: Subject | null): Update {
  const ask = (question: string, of: Act): Update => ({
    model: { ...model, said: null, mode: { kind: "confirm", question, act: of } },
  });
  const type = (prompt: string, of: (text: string) => Act): Update => ({
    model: { ...model, said: null, mode: { kind: "write", prompt, text: "", act: of } },
  });
  const agent = nameIn(subject);
  const merge = subject?.kind === "merge" ? subject.merge.entry : undefined;
  switch (key) {
    case "n":
      return agent === undefined
        ? hint(model, "select an agent to nudge it")
        : ask(`Nudge ${agent}?`, { kind: "nudge", agent });
    case "s":
      return agent === undefined
        ? hint(model, "select an agent to stop it")
        : ask(`Stop ${agent}? Its work is kept.`, { kind: "stop", agent });
    case "m":
      if (subject?.kind === "question")
        return type(`Answer to ${subject.question.from}`, (text) => ({
          kind: "answer",
          id: subject.question.id,
          text,
        }));
      if (subject?.kind === "decision")
        return type(`Decision (${subject.decision.options.join(" | ")})`, (option) => ({
          kind: "decide",
          id: subject.decision.id,
          option,
        }));
      return agent === undefined
        ? hint(model, "select an agent or a question to write to it")
        : type(`Message to ${agent}`, (text) => ({ kind: "message", to: agent, text }));
    case "a":
      return merge === undefined
        ? hint(model, "select a branch that waits for approval")
        : ask(`Let ${merge.branch} land?`, { kind: "approve", merge: merge.id });
    case "x":
      return merge === undefined
        ? hint(model, "select a branch to send it back")
        : type(`Why is ${merge.branch} sent back`, (reason) => ({ kind: "reject", merge: merge.id, reason }));
    case "u":
      if (subject?.kind === "operation")
        return ask(`Take back: ${subject.words}?`, { kind: "undo", operation: subject.id });
      return merge?.status === "merged"
        ? ask(`Take ${merge.branch} out again?`, { kind: "undo", operation: String(merge.id) })
        : hint(model, "select an operation, or a branch that has landed, to take it back");
    default:
      return { model };
  }
}

const hint = (model: Model, text: string): Update => ({ model: { ...model, said: { text, isBad: false } } });

/** The agent that a row is about. */
function nameIn(subject: Subject | null): string | undefined {
  switch (subject?.kind) {
    case "agent":
      return subject.standing.agent.name;
    case "merge":
      return subject.merge.entry.agentName ?? undefined;
    case "decision":
      return subject.decision.from;
    case "mail":
      return subject.message.from;
    default:
      return undefined;
  }
}

function typeFilter(model: Model, before: string, key: Key): Update {
  if (key === "enter") return { model: backToBrowse(model) };
  if (key === "escape") return { model: { ...backToBrowse(model), filter: before } };
  return { model: { ...model, filter: edited(model.filter, key) } };
}

function write(model: Model, mode: Extract<Mode, { kind: "write" }>, key: Key): Update {
  if (key === "escape") return { model: { ...backToBrowse(model), said: { text: "nothing was sent", isBad: false } } };
  if (key !== "enter") return { model: { ...model, mode: { ...mode, text: edited(mode.text, key) } } };
  const text = mode.text.trim();
  if (text === "") return { model: { ...model, said: { text: "write something, or press Escape", isBad: false } } };
  return { model: backToBrowse(model), effect: { kind: "act", act: mode.act(text) } };
}

function chooseRun(model: Model, mode: Extract<Mode, { kind: "runs" }>, key: Key): Update {
  if (key === "escape" || key === "q") return { model: backToBrowse(model) };
  // The first choice is the current run, whichever that is.
  const most = mode.runs.length;
  if (key === "enter") {
    const run = mode.at === 0 ? undefined : mode.runs[mode.at - 1]?.run.id;
    const scope = { all: false, run };
    return { model: { ...backToBrowse(model), scope, selected: {} }, effect: { kind: "look" } };
  }
  const at = Math.min(most, Math.max(0, mode.at + stepOf(key, 10, most + 1)));
  return { model: { ...model, mode: { ...mode, at } } };
}

/** The rows that contain the filter's words, in upper or lower case. A heading without rows goes too. */
export function filtered(rows: readonly Row[], filter: string): readonly Row[] {
  if (filter === "") return rows;
  const wanted = filter.toLowerCase();
  return rows.filter(({ key, text }) => key !== null && Bun.stripANSI(text).toLowerCase().includes(wanted));
}

/** The place of the selected row; of the first row that can be selected when it is gone. */
export function selectedAt({ selected, view }: Pick<Model, "selected" | "view">, rows: readonly Row[]): number {
  const key = selected[view];
  const at = key === undefined ? -1 : rows.findIndex((row) => row.key === key);
  if (at >= 0) return at;
  // Newest lines are at the bottom of a log, and that is where one begins to read.
  return view === "logs" ? rows.findLastIndex((row) => row.key !== null) : rows.findIndex((row) => row.key !== null);
}

const selectedRow = (model: Model, rows: readonly Row[]): Row | undefined => rows[selectedAt(model, rows)];

function select(model: Model, rows: readonly Row[], step: number): Model {
  const choices = rows.filter(({ key }) => key !== null);
  const now = selectedRow(model, rows);
  const at = now === undefined ? 0 : choices.indexOf(now);
  const key = choices[Math.min(choices.length - 1, Math.max(0, at + step))]?.key;
  return key == null ? model : { ...model, said: null, selected: { ...model.selected, [model.view]: key } };
}

const helpLines = [
  "1 to 6       the views; Tab the next one",
  "up down j k  select; PgUp PgDn Home End by screens",
  "Enter        details; Escape back, or drop the filter",
  "/            filter rows          r  choose a run",
  "p            pause and go on      Ctrl-L  draw anew",
  "n            nudge the selected agent",
  "m            write to it; answer a question; decide",
  "s            stop it; its work is kept",
  "a            let the selected branch land",
  "x            send it back with a reason",
  "u            take a landing back",
  "q            quit",
  "Every act asks before it is done.",
];
