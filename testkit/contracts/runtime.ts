import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import fc from "fast-check";
import { noTokens } from "../../src/domain/budget/usage.ts";
import type { PriceList } from "../../src/domain/prices/prices.ts";
import type { FailureCause } from "../../src/domain/turn/failure.ts";
import { LineSplitter } from "../../src/domain/turn/line-splitter.ts";
import { watchSpending } from "../../src/domain/turn/spending.ts";
import type { TurnEvent } from "../../src/domain/turn/turn-event.ts";
import type { Driver, LaunchRequest, Reply, Runtime } from "../../src/ports/runtime.ts";

/** Output of a real process of the runtime, and what it must be read as. */
export interface RecordedTurn {
  readonly name: string;
  readonly output: () => string;
  readonly failure: FailureCause | null;
  /** Null where the output names none. */
  readonly session: string | null;
  readonly usage: boolean;
  /** The driver whose output it is, of a runtime whose drivers do not all speak the same; else every driver reads it. */
  readonly driver?: string;
}

export interface RuntimeUnderTest {
  readonly runtime: Runtime;
  readonly turns: readonly RecordedTurn[];
  /** A line in which the program asks whether it may run `git push`, for drivers whose input stays open. */
  readonly question: string;
}

/** A recorded turn of the driver `acp`: what the program said, from its first line to the end of one prompt. */
export const overAcp = (
  program: string,
  name: string,
  more: Pick<RecordedTurn, "failure" | "session">,
): RecordedTurn => ({
  name: `${name} over ACP`,
  driver: "acp",
  output: () => readFileSync(resolve(import.meta.dir, `../../test/fixtures/acp/${program}-${name}.ndjson`), "utf8"),
  usage: more.failure === null,
  ...more,
});

/** A request of the Agent Client Protocol for the permission to use a tool so. */
export const acpQuestion = (toolCall: object): string =>
  JSON.stringify({
    jsonrpc: "2.0",
    id: 7,
    method: "session/request_permission",
    params: {
      sessionId: "s-1",
      toolCall,
      options: [
        { optionId: "a", name: "Always", kind: "allow_always" },
        { optionId: "o", name: "Once", kind: "allow_once" },
        { optionId: "n", name: "No", kind: "reject_once" },
      ],
    },
  });

/** Every model that the recordings name has a price here, a dollar for each token. */
const dear: PriceList = (() => {
  const price = { from: null, input: 1, output: 1, cacheRead: 1, cacheWrite: 1, cacheWrite1h: 1 };
  const models = ["any", "claude-opus-5-5", "claude-opus-4-8", "gemini-2.5-flash", "scripted", "fake-model", "gpt-5.2"];
  return { version: "dear", date: null, models: new Map(models.map((model) => [model, [price]])) };
})();

const request: LaunchRequest = {
  version: "1.0.0",
  model: null,
  resume: null,
  prompt: "the prompt of this turn",
  instructions: null,
  cwd: "/w/tree",
  writableRoots: ["/w/tree"],
  turnDir: "/w/turn",
  tools: null,
  toolVariables: {},
  maxCostUsd: null,
  guard: null,
};

/** What every runtime promises, driver by driver. */
export function runtimeContract(name: string, { runtime, turns, question }: RuntimeUnderTest): void {
  test(`${name} has drivers of different names, and says which files steer it`, () => {
    const ids = runtime.drivers.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(runtime.instructionFile).not.toStartWith("/");
    for (const file of runtime.guardedFiles) expect(file).not.toStartWith("/");
  });

  for (const driver of runtime.drivers) {
    describe(`${name} by its driver ${driver.id}`, () => {
      planPromises(driver);
      readingPromises(
        driver,
        turns.filter((turn) => turn.driver === undefined || turn.driver === driver.id),
      );
      if (driver.input === "open") exchangePromises(driver, question);
      test("a message for the running turn is one line of an input that stays open", () => {
        const line = driver.steer?.({ id: "msg-1", text: "one\ntwo" });
        if (line !== undefined) expect([driver.input, line.split("\n").length, line.at(-1)]).toEqual(["open", 2, "\n"]);
        if (driver.input === "once") expect(driver.steer).toBeNull();
      });
      if (driver.abilities.terminal) {
        test("opens the conversation at a terminal", () => {
          const plan = runtime.terminal({ resume: "s-1", model: null, instructions: null, tools: null, guard: null });
          expect(plan.argv).toContain("s-1");
          expect(plan.input).toBe("");
        });
      }
    });
  }
}

function planPromises({ launch, abilities, instructions }: Driver): void {
  /** Everything that reaches the program. */
  const all = (more: Partial<LaunchRequest>): string => JSON.stringify(launch({ ...request, ...more }));

  test("the prompt is in the input and not on the command line, which other users can read", () => {
    const { argv, input, opening = "" } = launch(request);
    expect(input + opening).toContain(request.prompt);
    expect(argv.join("\n")).not.toContain(request.prompt);
    expect(launch(request)).toEqual(launch(request));
  });

  test("what is asked for reaches the program as far as its abilities say", () => {
    const tools = { name: "our-tools", command: "/bin/ov", args: ["mcp"], env: ["OVERSTORY_TOKEN"] };
    expect(all({ model: "model-x" })).toContain("model-x");
    if (instructions === "file") expect(all({ instructions: "/w/told.md" })).toContain("/w/told.md");
    expect(all({ resume: "session-x" }).includes("session-x")).toBe(abilities.resume);
    expect(all({ tools }).includes("our-tools")).toBe(abilities.tools);
    expect(all({ maxCostUsd: 1.25 }).includes("1.25")).toBe(abilities.costLimit);
    for (const absent of ["model-x", "/w/told.md", "session-x", "our-tools"]) expect(all({})).not.toContain(absent);
  });

  test("planned files stay in the directories that they are for", () => {
    const paths = launch(request).files.flatMap((file) => [file.path, ...("to" in file ? [file.to] : [])]);
    for (const path of paths) expect(path).not.toMatch(/^\/|(^|\/)\.\.(\/|$)/);
  });
}

function readingPromises(driver: Driver, turns: readonly RecordedTurn[]): void {
  for (const { name, output, failure, session, usage } of turns) {
    test(`${name}: how it ended, its session and its usage are read`, () => {
      const events = eventsOf(driver, lines(output(), []));
      const ended = events.filter((event) => event.kind === "turn-ended");
      expect(ended.at(-1)).toMatchObject({ failure });
      const seen = events.flatMap((event) => (event.kind === "session" ? [event.providerSessionId] : []));
      if (session !== null) expect(seen).toContain(session);
      expect(events.some((event) => event.kind === "usage" && event.output > 0)).toBe(usage);
    });

    test(`${name}: it means the same wherever its bytes are cut`, () => {
      const text = output();
      const whole = eventsOf(driver, lines(text, []));
      const size = new TextEncoder().encode(text).length;
      fc.assert(
        fc.property(fc.array(fc.nat(size), { maxLength: 20 }), (cuts) => {
          expect(eventsOf(driver, lines(text, cuts))).toEqual(whole);
        }),
        { numRuns: 15 },
      );
    });
  }

  test("a limit in dollars ends a turn before its last word exactly where tokens are told after each answer", () => {
    const told = turns.filter((turn) => turn.usage && turn.failure === null);
    expect(told.length).toBeGreaterThan(0);
    for (const { output } of told) {
      const read = driver.reader(noTokens, "");
      const spending = watchSpending({ allowance: { usd: 1 }, model: "any", at: 0, prices: dear, earlier: [] });
      const running: string[] = [];
      for (const line of lines(output(), [])) {
        const { events } = read(line);
        const over = spending.overrun({ events, reportedUsd: null, elapsedMs: 0 });
        if (events.some(({ kind }) => kind === "turn-ended")) break;
        if (over !== undefined) running.push(over);
      }
      expect(running.length > 0).toBe(driver.abilities.tokens === "answer");
      for (const over of running) expect(over).toContain("by the list of prices");
    }
  });

  test("whatever a line holds, reading it never throws", () => {
    const read = driver.reader(noTokens, "");
    const odd = ["", "{", "null", "[]", '"x"', '{"type":7}', '{"type":"result"}', '{"type":"control_request"}'];
    for (const line of [...odd, "x".repeat(2_000_000)]) expect(Array.isArray(read(line).events)).toBe(true);
    fc.assert(fc.property(fc.json(), (line) => Array.isArray(read(line).events)));
  });
}

/** A permission that is asked for on the output, and answered on the input. */
function exchangePromises(driver: Driver, question: string): void {
  const asked = (): Extract<Reply, { kind: "ask" }> => {
    const [reply] = driver.reader(noTokens, "")(question).replies;
    if (reply?.kind !== "ask") throw new Error("the question was not understood");
    return reply;
  };

  test("a question tells the guard what the tool would do", () => {
    expect(asked().request).toMatchObject({ kind: "permission", use: { kind: "execute", command: "git push" } });
  });

  test("each answer is one line of the program's own, and a refusal says why", () => {
    const granted = asked().form({ kind: "granted", text: "" });
    const refused = asked().form({ kind: "refused", reason: "because of this rule" });
    for (const line of [granted, refused]) expect(line.indexOf("\n")).toBe(line.length - 1);
    expect(refused).toContain("because of this rule");
    expect(granted).not.toBe(refused);
  });
}

const eventsOf = (driver: Driver, all: readonly string[]): TurnEvent[] => {
  const read = driver.reader(noTokens, "");
  return all.flatMap((line) => read(line).events);
};

/** The lines of a text that arrives in pieces, cut at these bytes. */
function lines(text: string, cuts: readonly number[]): string[] {
  const bytes = new TextEncoder().encode(text);
  const splitter = new LineSplitter();
  const edges = [0, ...cuts.toSorted((a, b) => a - b), bytes.length];
  const found = edges.flatMap((edge, at) => [...splitter.push(bytes.subarray(edges[at - 1] ?? 0, edge))]);
  const rest = splitter.flush();
  return rest === undefined ? found : [...found, rest];
}
