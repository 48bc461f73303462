import { describe, expect, test } from "bun:test";
import type { AgentOutcome, AgentState } from "../../domain/agent/agent.ts";
import { colorDepth, makePaint, plain } from "../shared/paint.ts";
import { statusIcon, successLine, warningLine } from "./marks.ts";

const depth = (env: Record<string, string>, { tty = true, noColor = false } = {}) =>
  colorDepth({ env, noColor, isTTY: () => tty });

describe("whether a stream takes colours", () => {
  test("a terminal does, a pipe does not", () => {
    expect(depth({})).toBe("256");
    expect(depth({}, { tty: false })).toBe("none");
  });

  test("--no-color and NO_COLOR win over everything, but an empty NO_COLOR says nothing", () => {
    expect(depth({ FORCE_COLOR: "1" }, { noColor: true })).toBe("none");
    expect(depth({ NO_COLOR: "1", FORCE_COLOR: "1" })).toBe("none");
    expect(depth({ NO_COLOR: "" })).toBe("256");
  });

  test("FORCE_COLOR decides without a terminal, in both directions", () => {
    expect(depth({ FORCE_COLOR: "1" }, { tty: false })).toBe("256");
    expect(depth({ FORCE_COLOR: "3" }, { tty: false })).toBe("true");
    expect(depth({ FORCE_COLOR: "0" })).toBe("none");
  });

  test("a dumb terminal takes none, a modern one says so", () => {
    expect(depth({ TERM: "dumb" })).toBe("none");
    expect(depth({ COLORTERM: "truecolor" })).toBe("true");
  });

  test("the terminal is not asked when the environment decides", () => {
    const isTTY = () => {
      throw new Error("asked");
    };
    expect(colorDepth({ env: { NO_COLOR: "1" }, noColor: false, isTTY })).toBe("none");
  });
});

describe("the palette", () => {
  test("has the brand's own colours where the terminal can show them", () => {
    expect(makePaint("true").brand("x")).toBe("\u001b[38;2;46;125;50mx\u001b[39m");
    expect(makePaint("true").accent("x")).toBe("\u001b[38;2;255;183;77mx\u001b[39m");
    expect(makePaint("256").muted("x")).toBe("\u001b[38;5;243mx\u001b[39m");
  });

  test("gives the outer colour back after an inner one", () => {
    const { red, green } = makePaint("256");
    expect(red(`a${green("b")}c`)).toBe("\u001b[31ma\u001b[32mb\u001b[39m\u001b[31mc\u001b[39m");
    expect(red("")).toBe("");
  });
});

describe("marks", () => {
  test("an agent that handed its work over has a tick, one that failed or was stopped has none", () => {
    const icon = (state: AgentState, outcome: AgentOutcome | null = null): string =>
      statusIcon(plain, { state, outcome, releasedAt: null });
    expect([icon("in_turn"), icon("between_turns"), icon("booting"), icon("stalled")]).toEqual([">", "~", "~", "!"]);
    expect(icon("completed", "done")).toBe("✓");
    expect([icon("completed", "stopped"), icon("completed", "no_signal"), icon("zombie", "crashed")]).toEqual([
      "-",
      "!",
      "!",
    ]);
  });

  test("helper lines read well without colour", () => {
    expect(successLine(plain, "Sent", "m1")).toBe("✓ Sent m1");
    expect(warningLine(plain, "No reviewer", "start one")).toBe("! No reviewer — start one");
  });
});
