import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gatePorts } from "../../src/engine/merge/checks.ts";
import { endLostGates } from "../../src/engine/merge/claims.ts";
import { holdCommand } from "../../src/host/gates/held-command.ts";
import { linuxProcesses } from "../../src/host/processes.ts";
import { landingWorld } from "../../testkit/landing-world.ts";

test("what a gate of a dead engine started is ended: in its group, in other sessions, without any environment", async () => {
  await using world = await landingWorld();
  const { newRun, recordProcess } = gatePorts(world.ports);
  const run = newRun();
  const dir = join(world.root, "..");
  const names = ["own", "away", "bare"] as const;
  const pidOf = (name: string): number => Number(readFileSync(join(dir, name), "utf8"));
  const writer = (name: string): string => `/bin/sh -c 'echo $$ >${join(dir, name)}; exec sleep 60'`;
  const command = [`${writer("own")} &`, `(setsid ${writer("away")} &)`, `(setsid env -i ${writer("bare")} &)`, "wait"];
  const held = holdCommand({
    argv: ["/bin/sh", "-c", command.join("\n")],
    mark: run.mark,
    cwd: world.root,
    env: { PATH: process.env.PATH ?? "", OVERSTORY_GATE_RUN: run.id },
    output: 2,
  });
  // As an engine does that is killed before it can take note of the end.
  await recordProcess(held.identity, run);
  await held.release();
  while (!names.every((name) => existsSync(join(dir, name)) && pidOf(name) > 0)) await Bun.sleep(5);
  const started = names.map((name) => linuxProcesses.identify(pidOf(name)));
  await endLostGates(world.ports);
  for (const identity of started) expect(identity && linuxProcesses.check(identity)).toBe("gone");
  expect(await world.store.read((tx) => tx.processes.liveInRole("gate"))).toEqual([]);
});
