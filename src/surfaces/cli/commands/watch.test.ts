import { describe, expect, test } from "bun:test";
import { type MailWorld, mailWorld } from "../../../../testkit/mail-world.ts";
import { worldWith } from "../../../../testkit/world.ts";
import { ok } from "../../../domain/result.ts";
import {
  type AgentHealth,
  assessHealth,
  type FollowHealthRequest,
  followHealth,
  type HealthReport,
} from "../../../usecases/health/assess-health.ts";
import type { Call, Listener } from "../../../usecases/operation.ts";
import { plain } from "../../shared/paint.ts";
import type { App } from "../app.ts";
import type { Command } from "../command.ts";
import { runCli } from "../run.ts";
import { watchCommand } from "../tree/watch-commands.ts";
import { healthLine } from "./watch.ts";

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
  const assess = (request: Parameters<typeof assessHealth.run>[2]) => world.call(assessHealth, request);
  const app = {
    notices: async () => [],
    call: async (name: string) => (name === "config.get" ? ok(30_000) : ok({ pid: 4711, started: true })),
    follow: (_name: string, request: FollowHealthRequest, listener: Listener<HealthReport>) =>
      // The only operation that the stream calls is `health.assess`.
      followHealth.run(worldWith({ call: ((_: string, asked: object) => assess(asked)) as Call }), request, listener),
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

const health = (status: string, change: object = {}): AgentHealth => {
  const agent = { name: "b1", generation: 1, state: status === "ended" ? "completed" : "between_turns" };
  const assessment = { status, level: 0, action: { kind: "none" }, note: null, ...change };
  return { agent, assessment, quietMs: 0, inTurn: false } as unknown as AgentHealth;
};

test("each kind of news has a sign of its own, and text of others cannot break the line", () => {
  const line = (status: string, change: object = {}) => healthLine(plain, health(status, change), 0);
  expect(line("idle")).toBe("[00:00:00] · b1: idle (between_turns, quiet for 0s)");
  expect(line("ended")).toStartWith("[00:00:00] ✓ b1");
  expect(line("gone")).toStartWith("[00:00:00] x b1");
  expect(line("late")).toStartWith("[00:00:00] ! b1");
  expect(line("ended", { action: { kind: "investigate" } })).toStartWith("[00:00:00] > b1");
  expect(line("stalled", { level: 2, note: "a\nb" })).toBe(
    "[00:00:00] ! b1: stalled (between_turns, quiet for 0s, level 2) [a⏎b]",
  );
});
