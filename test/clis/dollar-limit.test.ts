import { expect } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { testWithCli } from "../../testkit/agent-clis/installed.ts";
import { drivers } from "../../testkit/conformance/drivers.ts";
import { kitWorld } from "../../testkit/conformance/world.ts";

/** A dollar for a thousand tokens. */
const perToken = 0.001;

testWithCli(
  "pi",
  "a limit in dollars ends a turn of the real Pi by the list of prices, where Pi knows no price itself",
  async (binDir) => {
    const pi = drivers.find(({ id }) => id === "pi");
    if (pi === undefined) throw new Error("the kit has no such driver");
    const withoutPrice = (text: string): string => text.replace('"input":1,"output":2', '"input":0,"output":0');
    const driver: typeof pi = {
      ...pi,
      files: (place) =>
        Object.fromEntries(Object.entries(pi.files(place)).map(([path, text]) => [path, withoutPrice(text)])),
    };
    await using world = await kitWorld(driver, binDir, "budgets: { agent: { usd: 1 } }\n");
    const { project } = world;
    const prices = { "fake-model": { input_cost_per_token: perToken, output_cost_per_token: perToken } };
    mkdirSync(join(project.root, ".overstory"), { recursive: true });
    writeFileSync(join(project.root, ".overstory/prices.json"), JSON.stringify(prices));
    const work = Array.from({ length: 30 }, (_, at) => ({ shell: `echo ${at}; sleep 0.2` }));
    await world.sling("b1", world.script(...work, { text: "All done." }));
    const turn = await world.untilTurn("b1", "was ended for its budget", () => true);
    expect(turn.failure).toBe("budget");
    expect(turn.error).toContain("by the list of prices, and $1.00 were left");
    expect(turn.costSource).toBe("prices");
    expect(turn.costMicros ?? 0).toBeGreaterThan(1_000_000);
    expect(world.requests("b1").length).toBeLessThan(25);
    await project.until("it was parked", async () =>
      (await project.read((tx) => tx.waits.of("b1"))).some(({ kind }) => kind === "budget"),
    );
  },
  { timeoutMs: 240_000 },
);
