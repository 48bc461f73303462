import { expect, test } from "bun:test";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { linuxProcesses } from "../../src/host/processes.ts";
import { letGo, ranTurns, slingNew, untilTurns } from "../../testkit/lifecycle.ts";
import { makeProject } from "../../testkit/project.ts";
import { statePath } from "../../testkit/state.ts";

const chattr = (flag: "+i" | "-i", ...paths: string[]): boolean => {
  const program = Bun.which("chattr");
  return program !== null && Bun.spawnSync([program, flag, ...paths]).exitCode === 0;
};

/** Only root can make files immutable, and not on every file system. */
function canFreeze(): boolean {
  const dir = mkdtempSync(join(tmpdir(), "ov-frozen-"));
  const file = join(dir, "file");
  writeFileSync(file, "");
  const frozen = chattr("+i", file) && chattr("-i", file);
  rmSync(dir, { recursive: true });
  return frozen;
}

test.skipIf(!canFreeze())("a supervisor whose database may not be changed for a while waits for it", async () => {
  await using project = await makeProject({
    scenario: `- do: [{ waitFor: { file: "\${env.HOME}/go" } }, { say: said while it was frozen }]\n`,
  });
  await slingNew(project, "B1");
  await project.until(
    "its agent ran",
    async () => (await project.read((tx) => tx.processes.liveInRole("agent"))).length > 0,
  );
  const [supervisor] = await project.read((tx) => tx.processes.liveInRole("supervisor"));
  if (supervisor === undefined) throw new Error("no supervisor");
  const files = ["", "-wal", "-shm"].map((end) => statePath(project.root, `overstory.db${end}`));
  const log = statePath(project.root, "run", "supervisors.log");
  const hasTried = (): boolean => existsSync(log) && readFileSync(log, "utf8").includes("cannot be written");
  expect(chattr("+i", ...files)).toBe(true);
  try {
    await letGo(project);
    await project.until("it tried", async () => hasTried() || linuxProcesses.check(supervisor) === "gone");
    expect(linuxProcesses.check(supervisor)).toBe("alive");
    expect(await project.ov("task", "create", "Two", "--json")).toMatchObject({ code: 3 });
  } finally {
    chattr("-i", ...files);
  }
  await untilTurns(project, "b1", 1);
  const [turn] = await ranTurns(project, "b1");
  expect(turn).toMatchObject({ status: "settled", fence: 1 });
});
