import type { Event } from "../../../domain/event/event.ts";
import { eventWords } from "../../../domain/event/event-words.ts";
import { payloadFields } from "../../../domain/mail/payload.ts";
import { visibleLine } from "../../../domain/text/visible.ts";
import { counted, iso } from "../../shared/format.ts";
import { edited, type Key } from "../../shared/keys.ts";
import type { Terminal } from "../../shared/terminal.ts";
import { cutPainted, cutWide, type EventLook, eventLine } from "./event-render.ts";

/** Where events beyond those that are loaded come from. Empty: there are none. */
export interface EventSource {
  older(before: number): Promise<readonly Event[]>;
  newer(after: number): Promise<readonly Event[]>;
}

/** Which event is shown, of those loaded so far. */
export interface Pager {
  readonly events: readonly Event[];
  readonly at: number;
  /** The words that are being typed after `/`; undefined while no search is typed. */
  readonly typing: string | undefined;
  readonly sought: string;
  readonly note: string;
}

export type Step =
  | { readonly kind: "show"; readonly pager: Pager }
  | { readonly kind: "older" | "newer" | "search" | "quit" | "interrupt"; readonly pager: Pager };

const isNext = (key: Key): boolean => [" ", "n", "j", "enter", "down", "right"].includes(key);
const isBack = (key: Key): boolean => ["b", "k", "p", "backspace", "up", "left"].includes(key);

/** What a key does. Loading and drawing are left to the caller. */
export function pressed(before: Pager, key: Key): Step {
  const pager = { ...before, note: "" };
  if (key === "ctrl-c") return { kind: "interrupt", pager };
  if (pager.typing !== undefined) return typed(pager, pager.typing, key);
  if (key === "q") return { kind: "quit", pager };
  if (key === "/") return { kind: "show", pager: { ...pager, typing: "" } };
  if (key === "N" && pager.sought !== "") return { kind: "search", pager };
  if (isNext(key)) {
    if (pager.at + 1 >= pager.events.length) return { kind: "newer", pager };
    return { kind: "show", pager: { ...pager, at: pager.at + 1 } };
  }
  if (isBack(key)) {
    if (pager.at === 0) return { kind: "older", pager };
    return { kind: "show", pager: { ...pager, at: pager.at - 1 } };
  }
  if (key === "g") return { kind: "show", pager: { ...pager, at: 0 } };
  if (key === "G") return { kind: "show", pager: { ...pager, at: Math.max(0, pager.events.length - 1) } };
  return { kind: "show", pager };
}

function typed(pager: Pager, words: string, key: Key): Step {
  if (key === "enter") {
    const sought = words === "" ? pager.sought : words;
    return { kind: sought === "" ? "show" : "search", pager: { ...pager, typing: undefined, sought } };
  }
  if (key === "escape") return { kind: "show", pager: { ...pager, typing: undefined } };
  return { kind: "show", pager: { ...pager, typing: edited(words, key) } };
}

/** Does an event contain these words, in its shown text or in its data? */
export const holds = (event: Event, words: string): boolean =>
  `${event.type} ${event.agentName ?? ""} ${eventWords(event).text} ${event.data ?? ""}`
    .toLowerCase()
    .includes(words.toLowerCase());

/** How many times a search asks for more events. */
const mostPages = 40;

/** Keys one after the other, and where the screen of each goes. */
export interface KeyTerminal {
  /** The next key; undefined when no key will come any more. */
  key(): Promise<Key | undefined>;
  draw(lines: readonly string[]): void;
  size(): { readonly rows: number; readonly columns: number };
  onResize(redraw: () => void): void;
}

/** A terminal whose keys are asked for one by one. `over` ends its keys. */
export function oneByOne({ screen, onKeys, onResize, onEnd }: Terminal, over: AbortSignal): KeyTerminal {
  const pressed: (Key | undefined)[] = [];
  let waiting: ((key: Key | undefined) => void) | undefined;
  const give = (key: Key | undefined): void => {
    const next = waiting;
    waiting = undefined;
    if (next === undefined) pressed.push(key);
    else next(key);
  };
  onKeys((keys) => keys.forEach(give));
  onEnd(() => give(undefined));
  over.addEventListener("abort", () => give(undefined), { once: true });
  return {
    key: async () =>
      pressed.length > 0
        ? pressed.shift()
        : new Promise((resolve) => {
            waiting = resolve;
          }),
    draw: (lines) => screen.draw(lines),
    size: () => ({ rows: screen.rows(), columns: screen.columns() }),
    onResize: (redraw) =>
      onResize(() => {
        screen.forget();
        redraw();
      }),
  };
}

/** Lets a person walk through events by keys, until they leave. Answers whether they left by Ctrl-C. */
export async function walk(
  terminal: KeyTerminal,
  source: EventSource,
  look: EventLook,
  first: readonly Event[],
): Promise<{ readonly interrupted: boolean }> {
  let pager: Pager = { events: first, at: 0, typing: undefined, sought: "", note: "" };
  const show = (): void => terminal.draw(screenOf(pager, look, terminal.size()));
  terminal.onResize(show);
  for (;;) {
    show();
    const key = await terminal.key();
    if (key === undefined) return { interrupted: false };
    const step = pressed(pager, key);
    ({ pager } = step);
    if (step.kind === "quit" || step.kind === "interrupt") return { interrupted: step.kind === "interrupt" };
    if (step.kind === "older") pager = await loadOlder(pager, source);
    if (step.kind === "newer") pager = await loadNewer(pager, source);
    if (step.kind === "search") pager = await search(pager, source);
  }
}

async function loadOlder(pager: Pager, source: EventSource): Promise<Pager> {
  const older = await source.older(pager.events[0]?.seq ?? 0);
  if (older.length === 0) return { ...pager, note: "this is the first event" };
  return { ...pager, events: [...older, ...pager.events], at: older.length - 1 };
}

async function loadNewer(pager: Pager, source: EventSource): Promise<Pager> {
  const newer = await source.newer(pager.events.at(-1)?.seq ?? 0);
  if (newer.length === 0) return { ...pager, note: "this is the last event" };
  return { ...pager, events: [...pager.events, ...newer], at: pager.events.length };
}

async function search(pager: Pager, source: EventSource): Promise<Pager> {
  let from = pager.at + 1;
  let { events } = pager;
  for (let page = 0; page < mostPages; page++) {
    const at = events.findIndex((event, index) => index >= from && holds(event, pager.sought));
    if (at !== -1) return { ...pager, events, at };
    from = events.length;
    const newer = await source.newer(events.at(-1)?.seq ?? 0);
    if (newer.length === 0) return { ...pager, events, note: `no later event holds "${pager.sought}"` };
    events = [...events, ...newer];
  }
  const looked = counted(events.length - pager.at - 1, "event");
  return { ...pager, events, note: `the next ${looked} do not hold "${pager.sought}"; N looks further` };
}

/** The screen: the events before, the selected one with all its data, and the keys. */
export function screenOf(
  { events, at, typing, sought, note }: Pager,
  look: EventLook,
  { rows, columns }: { readonly rows: number; readonly columns: number },
): readonly string[] {
  const event = events[at];
  const { paint } = look;
  if (event === undefined) return ["No events.", paint.dim("q quit")];
  const fits = (line: string): string => cutPainted(line, columns);
  const names = Math.min(16, Math.max(0, ...events.slice(Math.max(0, at - rows), at + 1).map(nameLength)));
  const shown = { ...look, width: columns };
  const details = detailLines(event).map((line) => `    ${cutWide(line, Math.max(10, columns - 4))}`);
  const room = Math.max(1, rows - 3);
  const own = [paint.bold(Bun.stripANSI(eventLine(event, shown, names))), ...details].slice(0, room);
  const past = events.slice(Math.max(0, at - (room - own.length)), at).map((one) => eventLine(one, shown, names));
  const keys = "space next  b back  / search  N again  g first  G last  q quit";
  const last =
    typing === undefined
      ? note === ""
        ? paint.dim(keys)
        : paint.yellow(visibleLine(note))
      : `/${visibleLine(typing)}`;
  const head = `${counted(events.length, "event")} loaded, this is number ${at + 1}${sought === "" ? "" : `, search: ${visibleLine(sought)}`}`;
  return [paint.muted(head), ...past, ...own, "", last].map(fits);
}

const nameLength = ({ agentName }: Event): number => (agentName ?? "").length;

/** Everything an event holds, a line for each field. */
function detailLines(event: Event): readonly string[] {
  const own = [
    `kind ${event.type}, ${event.level}, by ${event.source}, at ${iso(event.createdAt)}`,
    ...(event.runId === null ? [] : [`run ${event.runId}${event.turnId === null ? "" : `, turn ${event.turnId}`}`]),
  ];
  const fields = Object.entries(payloadFields(event.data)).flatMap(([name, value]) => {
    const text = typeof value === "string" ? value : JSON.stringify(value);
    const [first = "", ...rest] = text.split("\n");
    return [`${name}: ${first}`, ...rest.map((line) => `  ${line}`)];
  });
  return [...own, ...fields].map(visibleLine);
}
