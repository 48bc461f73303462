import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import {
  deathNotices,
  letGo,
  pidOf,
  promptsOf,
  ranTurns,
  slingNew,
  startsOf,
  untilAgent,
  untilFile,
} from "../../testkit/lifecycle.ts";
import { makeProject, type TestProject } from "../../testkit/project.ts";
import { rawDatabase } from "../../testkit/raw-database.ts";
import { canMount, mountSmallDisk, type SmallDisk } from "../../testkit/small-disk.ts";
import { statePath } from "../../testkit/state.ts";

/** Works until it may go on, and then on whatever it was sent meanwhile. */
const patient = `
- when: { turn: 1 }
  do:
    - touch: "\${env.HOME}/ready"
    - waitFor: { file: "\${env.HOME}/go" }
    - ov: [mail, send, --to, operator, --type, question, --subject, q, --body, which?]
- do: [{ ov: [done, --no-code, --summary, done] }]
`;

/** A supervisor is given up after twice this time of silence: more than a busy machine makes of it. */
const leaseMs = 2_500;
/** The engine can be looked at when nothing is left to do. */
const env = { OVERSTORY_TEST_LEASE_MS: String(leaseMs), OVERSTORY__ENGINE__IDLE_EXIT_MS: "60000" };

/** The state of the project, its worktrees and the homes of its agents are on that disk. */
async function projectOn(disk: SmallDisk, scenario: string): Promise<TestProject> {
  const before = process.env.TMPDIR;
  process.env.TMPDIR = disk.dir;
  try {
    return await makeProject({ scenario, env });
  } finally {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
  }
}

/** Sends mail until it is refused for want of space; the log of the database may have room for some more. */
async function sendUntilFull(project: TestProject): Promise<{ stored: string[]; refusal: Record<string, unknown> }> {
  const stored: string[] = [];
  for (let n = 0; n < 200; n++) {
    const subject = `note-${n}-end`;
    const answer = await project.ov("mail", "send", "--to", "b1", "--subject", subject, "--body", text, "--json");
    if (answer.code !== 0) return { stored, refusal: JSON.parse(answer.out) };
    stored.push(subject);
  }
  throw new Error("the disk was never full");
}

const text = "many words ".repeat(1_000);

const enginePid = ({ root }: TestProject): number =>
  JSON.parse(readFileSync(statePath(root, "run", "engine.json"), "utf8")).pid;

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    // There is no such process any more.
    return false;
  }
};

const mountable = canMount();
if (!mountable) console.error("NOT TESTED: what happens on a full disk, since none can be mounted here");

test.skipIf(!mountable)(
  "a full disk loses no mail and kills nobody; it is said clearly, and all go on when there is room again",
  async () => {
    using disk = mountSmallDisk(16);
    await using project = await projectOn(disk, patient);
    await slingNew(project, "B1");
    await untilFile(project, "ready");
    await untilAgent(project, "b1", "in_turn");
    const [engine, agent] = [enginePid(project), await pidOf(project, "b1", "agent")];

    disk.fill();
    const { stored, refusal } = await sendUntilFull(project);
    expect(refusal).toMatchObject({ success: false, code: "BUSY_ERROR", exitCode: 6, retryable: true });
    expect(refusal.error).toMatch(/is full; nothing was changed/);
    expect((await project.ov("status")).code).toBe(0);
    // Longer than it takes to give up on a supervisor that cannot beat.
    await Bun.sleep(3 * leaseMs);
    disk.fill();
    expect((await project.ov("mail", "send", "--to", "b1", "--subject", "s", "--body", text)).code).toBe(6);
    expect([isAlive(engine), isAlive(agent)]).toEqual([true, true]);

    disk.makeRoom();
    await project.json("mail", "send", "--to", "b1", "--subject", "after-all", "--body", text, "--wake");
    stored.push("after-all");
    await letGo(project);
    await untilAgent(project, "b1", "completed", "zombie");
    expect(await project.agent("b1")).toMatchObject({ state: "completed", outcome: "done" });
    expect(await deathNotices(project, "b1")).toEqual([]);
    expect(startsOf(project, "b1")).toHaveLength(2);
    expect(await ranTurns(project, "b1")).toMatchObject([
      { status: "settled", attempt: 1 },
      { status: "settled", attempt: 1 },
    ]);
    const read = promptsOf(project, "b1").join("\n");
    for (const subject of stored) expect(read.split(`subject: ${subject}`)).toHaveLength(2);
    const kept = await project.read((tx) => tx.messages.list({ to: "b1", type: "status" }));
    expect(kept.map(({ subject }) => subject).toReversed()).toEqual(stored);
    expect(enginePid(project)).toBe(engine);
    const db = rawDatabase(project, "read");
    expect(db.query("PRAGMA integrity_check").get()).toEqual({ integrity_check: "ok" });
    db.close();
  },
  120_000,
);

const talkative = `
- when: { attempt: 1 }
  do:
    - touch: "\${env.HOME}/ready"
    - repeat: { times: 600, do: [{ say: still here }, { sleep: 100 }] }
- do: [{ ov: [done, --no-code, --summary, done] }]
`;

async function untilDiedOnFullDisk(project: TestProject, disk: SmallDisk): Promise<void> {
  await slingNew(project, "B1");
  await untilFile(project, "ready");
  await untilAgent(project, "b1", "in_turn");
  const agent = await pidOf(project, "b1", "agent");
  disk.fill();
  await project.until("it had died", async () => !isAlive(agent));
}

test.skipIf(!mountable)(
  "an agent that cannot write its own output dies of it, and is tried again when there is room",
  async () => {
    using disk = mountSmallDisk(16);
    await using project = await projectOn(disk, talkative);
    await untilDiedOnFullDisk(project, disk);
    await Bun.sleep(3 * leaseMs);
    disk.makeRoom();
    await untilAgent(project, "b1", "completed", "zombie");
    expect(await project.agent("b1")).toMatchObject({ state: "completed", outcome: "done" });
    expect(await deathNotices(project, "b1")).toEqual([]);
    expect(await ranTurns(project, "b1")).toMatchObject([
      { status: "failed", attempt: 1 },
      { status: "settled", attempt: 2 },
    ]);
  },
  120_000,
);

test.skipIf(!mountable)(
  "a turn that ended on a full disk says so",
  async () => {
    using disk = mountSmallDisk(16);
    await using project = await projectOn(disk, talkative);
    await untilDiedOnFullDisk(project, disk);
    disk.makeRoom();
    await untilAgent(project, "b1", "completed", "zombie");
    expect(await ranTurns(project, "b1")).toMatchObject([
      { status: "failed", error: expect.stringContaining("the disk is full: its process exited with") },
      { status: "settled" },
    ]);
  },
  120_000,
);
