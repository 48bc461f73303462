import { expect, test } from "bun:test";
import { watchLoops } from "./loop.ts";
import type { TurnEvent } from "./turn-event.ts";

const limits = { sameFailures: 3, denials: 2 };
let next = 0;
const call = (command: string, said: string | null): TurnEvent[] => {
  const id = `c${next++}`;
  const start = { kind: "tool-start", id, name: "Bash", summary: command, input: { command }, at: null } as const;
  const end = { kind: "tool-end", id, failed: said !== null, ...(said === null ? {} : { said }), at: null } as const;
  return [start, end];
};
const denied = (): TurnEvent => ({ kind: "denied", tool: "Bash", id: `d${next++}`, summary: null, rule: "git-push" });
const said = (events: readonly TurnEvent[], of = limits): string[] => {
  const watch = watchLoops(of);
  return events.map((event) => watch.see(event)).filter((words) => words !== undefined);
};

test("the same call that fails in the same way again and again is a loop", () => {
  const again = [call("make", "no rule"), call("make", "no rule"), call("make", "no rule")].flat();
  expect(said(again)).toEqual(["the same call failed in the same way 3 times in a row (Bash: make)"]);
  expect(said(again.slice(0, 4))).toEqual([]);
  expect(said(again, { ...limits, sameFailures: 0 })).toEqual([]);
});

test("two failing calls by turns are a loop as well", () => {
  const both = [call("a", "x"), call("b", "y")].flat();
  expect(said([...both, ...[call("a", "x"), call("b", "y")].flat(), ...call("a", "x")])).toHaveLength(1);
});

test("another answer, another input or something that works in between is no loop", () => {
  const polled = ["10 %", "20 %", "30 %", "40 %"].flatMap((answer) => call("status", answer));
  const others = ["a", "b", "c", "d"].flatMap((command) => call(command, "no"));
  const mended = [1, 2, 3, 4].flatMap(() => [...call("make", "no rule"), ...call("edit", null)]);
  const waiting = [1, 2, 3, 4, 5].flatMap(() => call("cat log", null));
  for (const events of [polled, others, mended, waiting]) expect(said(events)).toEqual([]);
});

test("denials in a row are a loop, and a call that works ends the row", () => {
  expect(said([denied(), denied()])).toEqual([expect.stringContaining("2 calls of tools in a row were denied")]);
  expect(said([denied(), ...call("ls", null), denied()])).toEqual([]);
  expect(said([denied(), denied(), denied()], { ...limits, denials: 0 })).toEqual([]);
});

test("a call that is denied in the same way again and again is a loop, like one that fails", () => {
  const refused = (command: string): TurnEvent[] => {
    const [start, end] = call(command, "not yours") as [TurnEvent, TurnEvent];
    return [start, { ...(denied() as TurnEvent & { kind: "denied" }), id: "id" in end ? end.id : null }, end];
  };
  const again = [1, 2, 3].flatMap(() => refused("git push"));
  expect(said(again, { sameFailures: 3, denials: 9 })).toEqual([
    "the same call failed in the same way 3 times in a row (Bash: git push)",
  ]);
  expect(said(["a", "b", "c"].flatMap(refused), { sameFailures: 3, denials: 3 })).toEqual([
    expect.stringContaining("3 calls of tools in a row were denied"),
  ]);
});
