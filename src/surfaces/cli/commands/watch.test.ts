import { describe, expect, test } from "bun:test";
import { type MailWorld, mailWorld } from "../../../../testkit/mail-world.ts";
import { no, ok } from "../../../domain/result.ts";
import { type AgentHealth, assessHealth, type HealthReport } from "../../../usecases/health/assess-health.ts";
import type { App } from "../app.ts";
import type { Command } from "../command.ts";
import { plain } from "../paint.ts";
import { runCli } from "../run.ts";
import { watchCommand } from "../tree/watch-commands.ts";
import { follow, healthLine } from "./watch.ts";

const tree: Command = { name: "ov", summary: "test", commands: [watchCommand] };

interface Ran {
  readonly exit: number;
  readonly out: string;
  readonly err: string;
}

/** `onTalk` sees every line on stderr as it is written. */
async function ov(world: MailWorld, argv: readonly string[], onTalk: (text: string) => void = () => {}): Promise<Ran> {
  const texts = { out: "", err: "" };
  const sink = (name: "out" | "err") => ({
    write: (text: string) => {
      texts[name] += text;
      if (name === "err") onTalk(text);
      return "written" as const;
    },
    isTTY: () => false,
    isPipe: () => false,
    columns: () => undefined,
  });
  const input = { argv: ["watch", ...argv], env: {}, tree, version: "0.0.0", stdout: sink("out"), stderr: sink("err") };
  return { exit: await runCli({ ...input, makeApp: () => appFor(world) }), ...texts };
}

/** The few things that `ov watch` asks of the program; the rest is not there. */
function appFor(world: MailWorld): App {
  const thresholds = {
    tier0IntervalMs: 30_000,
    staleThresholdMs: 300_000,
    zombieThresholdMs: 600_000,
    nudgeIntervalMs: 60_000,
    maxEscalationLevel: 3,
  };
  const keys = Object.entries(thresholds).map(([name, value]) => ({ key: `watchdog.${name}`, value }));
  const app = {
    notices: async () => [],
    call: async (name: string, request: Parameters<typeof assessHealth.run>[2]) =>
      name === "config.list"
        ? ok(keys)
        : name === "engine.start"
          ? ok({ pid: 4711, started: true })
          : world.call(assessHealth, request),
  };
  return app as unknown as App;
}

describe("ov watch", () => {
  test("--background makes sure that an engine runs and answers where it is", async () => {
    await using world = await mailWorld();
    const json = await ov(world, ["--background", "--json"]);
    expect(JSON.parse(json.out)).toEqual({
      success: true,
      command: "watch",
      pid: 4711,
      intervalMs: 30_000,
      pidFile: "ov-state/run/engine.json",
    });
    expect((await ov(world, ["--background"])).out).toBe("✓ The engine watches, pid 4711\n");
  });

  test("--interval is the time between looks, and no less than a second", async () => {
    await using world = await mailWorld();
    const { out } = await ov(world, ["--background", "--interval", "2500", "--json"]);
    expect(JSON.parse(out).intervalMs).toBe(2500);
    for (const wrong of ["999", "0", "abc", "-5"]) {
      expect((await ov(world, ["--background", "--interval", wrong])).exit).not.toBe(0);
    }
  });

  test("--kill-others is accepted and says that there is nothing to end", async () => {
    await using world = await mailWorld();
    const ran = await ov(world, ["--background", "--kill-others"]);
    expect(ran.exit).toBe(0);
    expect(ran.err).toContain("no others to end");
  });

  test("in the foreground it answers first, then tells a line per agent and change until it is interrupted", async () => {
    await using world = await mailWorld();
    await world.seat("b1", { lastActivityAt: world.clock.now - 301_000 });
    await world.seat("old", { state: "completed", outcome: "done" });
    const listeners = process.listenerCount("SIGINT");
    const ran = await ov(world, ["--json", "--interval", "1000"], () => process.emit("SIGINT"));
    expect(ran.exit).toBe(0);
    expect(JSON.parse(ran.out)).toMatchObject({ pid: 4711, intervalMs: 1000, mode: "foreground" });
    expect(ran.err).toBe("[00:00:00] ! b1: stalled (between_turns, quiet for 5m 1s)\n");
    expect(process.listenerCount("SIGINT")).toBe(listeners);
  });
});

describe("following", () => {
  const health = (name: string, status: string, change: object = {}): AgentHealth => {
    const agent = { name, generation: 1, state: status === "ended" ? "completed" : "between_turns" };
    const assessment = { status, level: 0, action: { kind: "none" }, note: null, ...change };
    return { agent, assessment, quietMs: 0, inTurn: false } as unknown as AgentHealth;
  };

  async function told(...looks: readonly (readonly AgentHealth[])[]): Promise<string[]> {
    const lines: string[] = [];
    let at = 0;
    await follow({
      look: async () => ok<HealthReport>({ now: 0, agents: looks[at] ?? [] }),
      tell: ({ agent, assessment }) => lines.push(`${agent.name} ${assessment.status} ${assessment.level}`),
      rest: async () => {
        at++;
      },
      isOver: () => at >= looks.length,
    });
    return lines;
  }

  test("an agent is told about once, and again when its status, state or level changes", async () => {
    const idle = health("b1", "idle");
    const lines = await told(
      [idle],
      [idle],
      [health("b1", "stalled")],
      [health("b1", "stalled", { level: 1 })],
      [idle],
    );
    expect(lines).toEqual(["b1 idle 0", "b1 stalled 0", "b1 stalled 1", "b1 idle 0"]);
  });

  test("an end is told to who saw the agent alive", async () => {
    const lines = await told(
      [health("b1", "idle"), health("b2", "ended")],
      [health("b1", "ended"), health("b2", "ended")],
    );
    expect(lines).toEqual(["b1 idle 0", "b1 ended 0"]);
  });

  test("it ends when looking is refused", async () => {
    const ended = await follow({
      look: async () => no({ kind: "unknown-token" }),
      tell: () => {},
      rest: async () => {},
      isOver: () => false,
    });
    expect(ended).toEqual(no({ kind: "unknown-token" }));
  });

  test("each kind of news has a sign of its own, and text of others cannot break the line", () => {
    const line = (status: string, change: object = {}) => healthLine(plain, health("b1", status, change), 0);
    expect(line("idle")).toBe("[00:00:00] · b1: idle (between_turns, quiet for 0s)");
    expect(line("ended")).toStartWith("[00:00:00] ✓ b1");
    expect(line("gone")).toStartWith("[00:00:00] x b1");
    expect(line("late")).toStartWith("[00:00:00] ! b1");
    expect(line("ended", { action: { kind: "investigate" } })).toStartWith("[00:00:00] > b1");
    expect(line("stalled", { level: 2, note: "a\nb" })).toBe(
      "[00:00:00] ! b1: stalled (between_turns, quiet for 0s, level 2) [a⏎b]",
    );
  });
});
