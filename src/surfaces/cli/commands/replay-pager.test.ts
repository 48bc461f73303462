import { expect, test } from "bun:test";
import type { Event } from "../../../domain/event/event.ts";
import { plain } from "../../shared/paint.ts";
import { type EventSource, walk } from "./replay-pager.ts";

const event = (seq: number): Event => ({
  seq,
  runId: "r",
  agentName: "b1",
  agentId: "a",
  turnId: "t",
  line: null,
  part: null,
  source: "agent",
  level: "info",
  type: "progress",
  data: JSON.stringify({ text: `words ${seq}${seq === 7 ? " needle \u001b[2J" : ""}` }),
  createdAt: seq,
});

const source: EventSource = {
  older: async (before) => [1, 2, 3].filter((seq) => seq < before).map(event),
  newer: async (after) => [6, 7, 8].filter((seq) => seq > after).map(event),
};

/** Types these keys, and answers which event was shown after each of them, with the last line of the screen. */
async function typing(keys: readonly string[], from: EventSource = source) {
  const screens: (readonly string[])[] = [];
  const left = [...keys];
  const look = { paint: plain, width: 80, now: 0 };
  const terminal = {
    key: async () => left.shift(),
    draw: (lines: readonly string[]) => void screens.push(lines),
    size: () => ({ rows: 14, columns: 60 }),
    onResize: () => {},
  };
  const end = await walk(terminal, from, look, [4, 5].map(event));
  const shownOf = (lines: readonly string[]) => Number(/text: words (\d+)/.exec(lines.join("\n"))?.[1]);
  return { end, screens, shown: screens.map(shownOf), last: screens.at(-1)?.at(-1) };
}

test("keys walk on and back, and load more events at both ends until there are none", async () => {
  expect((await typing([" ", "n", "down", "j", "enter"])).shown).toEqual([4, 5, 6, 7, 8, 8]);
  expect((await typing([" ", "n", "n", "n", "n"])).last).toBe("this is the last event");
  expect((await typing(["b", "k", "up", "b"])).shown).toEqual([4, 3, 2, 1, 1]);
  expect((await typing(["b", "b", "b", "b"])).last).toBe("this is the first event");
  expect((await typing(["n", "g", "G"])).shown).toEqual([4, 5, 4, 5]);
});

test("a search goes to the next event with the words, over pages that it loads, and says when there is none", async () => {
  const found = await typing(["/", ..."NEEDLX", "backspace", "E", "enter"]);
  expect(found.shown.at(-1)).toBe(7);
  expect((await typing(["/", ..."nowhere", "enter"])).last).toBe('no later event holds "nowhere"');
  expect((await typing(["/", ..."words", "enter", "N", "N"])).shown.at(-1)).toBe(7);
  // A search that is given up leaves everything as it was, and q is a letter in it.
  expect((await typing(["/", "q", "escape", " "])).shown.at(-1)).toBe(5);
});

test("a search that gives up before the last event says how far it looked, and goes on from there", async () => {
  const endless: EventSource = { ...source, newer: async (after) => (after < 100 ? [event(after + 1)] : []) };
  const words = ["/", ..."words 60", "enter"];
  expect((await typing(words, endless)).last).toStartWith("the next 41 events do not hold");
  expect((await typing([...words, "N"], endless)).shown.at(-1)).toBe(60);
});

test("q leaves, Ctrl-C leaves as an interrupt, and so does the end of the input", async () => {
  expect((await typing(["q", " "])).end).toEqual({ interrupted: false });
  expect((await typing(["ctrl-c", " "])).end).toEqual({ interrupted: true });
  expect((await typing(["/", "ctrl-c"])).end).toEqual({ interrupted: true });
  expect((await typing([])).end).toEqual({ interrupted: false });
});

test("a screen fits its terminal and holds no control byte of an event", async () => {
  const { screens } = await typing(["n", "n", "n"]);
  for (const lines of screens) {
    expect(lines.length).toBeLessThanOrEqual(14);
    for (const line of lines) expect(Bun.stringWidth(line)).toBeLessThanOrEqual(60);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not reach a terminal
    expect(lines.join("")).not.toMatch(/[\u0000-\u001f]/);
  }
});
