import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sampleAgents } from "./agent-sampler.ts";

interface Started {
  readonly agent: string;
  readonly turn: string;
  readonly program?: { readonly cmd: string[]; readonly cwd: string };
}

const sleeper = { cmd: ["sleep", "120"], cwd: "/" };

/** What is seen of processes of the agent b1. The sampler has looked at all of them when it has seen a pair that came later. */
async function seenOf(started: readonly Started[]): Promise<string[]> {
  const root = `/tmp/sampled-${crypto.randomUUID()}`;
  using sampler = sampleAgents();
  const start = ({ agent, turn, program = sleeper }: Started): Bun.Subprocess =>
    Bun.spawn({
      ...program,
      env: { OVERSTORY_PROJECT_ROOT: root, OVERSTORY_AGENT_NAME: agent, OVERSTORY_TURN_ID: turn },
    });
  const later = ["turn-1", "turn-2"].map((turn) => ({ agent: "later", turn }));
  const children = [...started, ...later].map(start);
  while (!sampler.doubles(root).some((pair) => pair.startsWith("later: "))) await Bun.sleep(20);
  for (const child of children) child.kill("SIGKILL");
  return sampler.doubles(root).filter((pair) => pair.startsWith("b1: "));
}

const inTurns = (...turns: readonly string[]): Started[] => turns.map((turn) => ({ agent: "b1", turn }));

test("processes of two turns of one agent at the same time are seen", async () => {
  expect(await seenOf(inTurns("turn-1", "turn-2"))).toHaveLength(1);
});

test("several processes of one turn are one agent at work", async () => {
  expect(await seenOf(inTurns("turn-1", "turn-1", "turn-1"))).toEqual([]);
});

test("two programs of one turn are seen", async () => {
  const cwd = mkdtempSync(join(tmpdir(), "ov-programs-"));
  writeFileSync(join(cwd, "scripted-agent"), "kill -STOP $$\n");
  const program = { cmd: ["sh", "scripted-agent"], cwd };
  const seen = await seenOf(inTurns("turn-1", "turn-1").map((one) => ({ ...one, program })));
  rmSync(cwd, { recursive: true });
  expect(seen).toEqual([expect.stringMatching(/^b1: programs \d+ and \d+$/)]);
});
