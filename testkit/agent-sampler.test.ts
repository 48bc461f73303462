import { expect, test } from "bun:test";
import { sampleAgents } from "./agent-sampler.ts";

const start = (root: string, turn: string): Bun.Subprocess =>
  Bun.spawn({
    cmd: ["sleep", "120"],
    env: { OVERSTORY_PROJECT_ROOT: root, OVERSTORY_AGENT_NAME: "b1", OVERSTORY_TURN_ID: turn },
  });

/** What is seen of processes of these turns, as soon as there is something, or after so many moments. */
async function seenOf(turns: readonly string[], moments: number): Promise<string[]> {
  const root = `/tmp/sampled-${crypto.randomUUID()}`;
  using sampler = sampleAgents();
  const children = turns.map((turn) => start(root, turn));
  for (let moment = 0; sampler.doubles(root).length === 0 && moment < moments; moment++) await Bun.sleep(20);
  for (const child of children) child.kill("SIGKILL");
  return sampler.doubles(root);
}

test("processes of two turns of one agent at the same time are seen", async () => {
  expect(await seenOf(["turn-1", "turn-2"], 1_000)).toHaveLength(1);
});

test("several processes of one turn are one agent at work", async () => {
  expect(await seenOf(["turn-1", "turn-1", "turn-1"], 15)).toEqual([]);
});
