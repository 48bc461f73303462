import { expect, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { eventsOf, moveClock, slingNew, untilAgent } from "../../testkit/lifecycle.ts";
import { makeProject, type TestProject } from "../../testkit/project.ts";
import { statePath } from "../../testkit/state.ts";

const dayMs = 24 * 60 * 60_000;

/** All leave work uncommitted; `staged` leaves one version in its index and another in its worktree. */
const leaving = `
- when: { agent: staged }
  do:
    - shell: printf index > staged.txt && git add staged.txt && printf worktree > staged.txt
    - ov: [mail, send, --to, operator, --type, question, --subject, "\${agent}", --body, go on?]
- when: { agent: huge }
  do:
    - shell: printf huge > huge.txt; printf 0123456789ab > huge.bin; mkdir cache && echo slow > cache/made
    - ov: [mail, send, --to, operator, --type, question, --subject, "\${agent}", --body, go on?]
- do:
    - edit: { file: "\${agent}.txt", write: "\${agent}\\n" }
    - shell: mkdir cache && echo slow > cache/made
    - ov: [mail, send, --to, operator, --type, question, --subject, "\${agent}", --body, go on?]
`;

const snapshotsOf = async (project: TestProject): Promise<string[]> => {
  const refs = await project.git("for-each-ref", "--format=%(refname)", "refs/overstory/snap/");
  return refs.split("\n").filter((ref) => ref !== "");
};

const trashOf = ({ root }: TestProject): string[] => {
  const trash = statePath(root, "trash");
  return existsSync(trash) ? readdirSync(trash) : [];
};

async function land(project: TestProject, file: string, text: string): Promise<void> {
  await Bun.write(join(project.root, file), text);
  await project.git("add", file);
  await project.git("commit", "--quiet", "-m", `land ${file}`);
}

/** An engine that starts at this time has made its round. */
async function roundAt(project: TestProject, offsetMs: number): Promise<void> {
  await moveClock(project, offsetMs);
  await project.until("the engine had left", async () => project.processes().length === 0);
}

test("snapshots of landed work and trash go when their time is over; work that landed nowhere stays for ever", async () => {
  await using project = await makeProject({
    scenario: leaving,
    files: { "README.md": "# Sample\n", ".gitignore": "cache/\n" },
    config: "snapshot:\n  maxFileBytes: 10\n",
  });
  const names = ["landed", "lost", "staged", "huge", "held"];
  for (const name of names) {
    await slingNew(project, name.toUpperCase());
    await untilAgent(project, name, "between_turns");
    await project.json("stop", name);
    if (name !== "held") await project.json("release", name);
  }
  await project.settled();
  expect(await snapshotsOf(project)).toEqual(names.toSorted().map((name) => `refs/overstory/snap/${name}/1/1`));
  expect(trashOf(project)).toHaveLength(4);
  await land(project, "landed.txt", "landed\n");
  await land(project, "staged.txt", "index");
  await land(project, "huge.txt", "huge");

  await roundAt(project, 13 * dayMs);
  expect(await snapshotsOf(project)).toHaveLength(5);
  expect(trashOf(project)).toHaveLength(5);

  await roundAt(project, 16 * dayMs);
  const left = ["held", "lost", "staged"].map((name) => `refs/overstory/snap/${name}/1/1`);
  expect(await snapshotsOf(project)).toEqual(left);
  expect(await project.git("show", "refs/overstory/snap/staged/1/1:staged.txt")).toBe("worktree");
  expect(await project.read((tx) => tx.snapshots.of("landed"))).toEqual([]);
  expect(await project.read((tx) => tx.snapshots.of("lost"))).toHaveLength(1);
  const pruned = await eventsOf(project, "snapshots_pruned");
  expect(pruned.flatMap(({ data }) => JSON.parse(String(data)).refs).toSorted()).toEqual([
    "refs/overstory/snap/huge/1/1",
    "refs/overstory/snap/landed/1/1",
  ]);
  // Ignored files of what landed are gone. Of what landed nowhere they stay, and so does work that no snapshot can hold.
  const stamp = /-\d{4}-.*Z/;
  expect(
    trashOf(project)
      .map((name) => name.replace(stamp, ""))
      .toSorted(),
  ).toEqual(["held", "huge", "huge.work", "lost"]);
}, 180_000);

test("snapshot.retentionDays and mail.retentionDays say how long; unread mail stays, and 0 keeps everything", async () => {
  await using project = await makeProject({
    scenario: leaving,
    files: { "README.md": "# Sample\n", ".gitignore": "cache/\n" },
    config: "snapshot:\n  retentionDays: 2\nmail:\n  retentionDays: 4\n",
  });
  await slingNew(project, "LANDED");
  await untilAgent(project, "landed", "between_turns");
  await project.json("stop", "landed");
  await project.json("release", "landed");
  await project.settled();
  await land(project, "landed.txt", "landed\n");
  await project.json("run", "complete", "--force");
  const typesOf = (): Promise<string[]> =>
    project.read(async (tx) => (await tx.messages.list({})).map(({ type }) => type).toSorted());
  expect(await typesOf()).toEqual(["dispatch", "question"]);

  await roundAt(project, 3 * dayMs);
  expect(await snapshotsOf(project)).toEqual([]);
  expect(trashOf(project)).toEqual([]);
  expect(await typesOf()).toEqual(["dispatch", "question"]);

  await project.json("config", "set", "mail.retentionDays", "0");
  await roundAt(project, 5 * dayMs);
  expect(await typesOf()).toEqual(["dispatch", "question"]);

  await project.json("config", "set", "mail.retentionDays", "4");
  await roundAt(project, 5 * dayMs);
  expect(await typesOf()).toEqual(["question"]);
  expect((await eventsOf(project, "mail_purged")).map(({ data }) => JSON.parse(String(data)).purged)).toEqual([1]);
}, 180_000);

test("history.retentionDays, events.retentionDays and logs.retentionDays say how long turns, events and logs stay; those of an agent that is not released always do", async () => {
  await using project = await makeProject({
    scenario: leaving,
    config:
      "history:\n  retentionDays: 6\nevents:\n  retentionDays: 4\nlogs:\n  retentionDays: 2\ncosts:\n  retentionDays: 8\n",
  });
  for (const name of ["gone", "held"]) {
    await slingNew(project, name.toUpperCase());
    await untilAgent(project, name, "between_turns");
  }
  await project.json("stop", "gone");
  await project.json("release", "gone");
  await project.settled();
  const left = async (name: string) => {
    const agent = await project.read((tx) => tx.agents.byName(name));
    const logs = statePath(project.root, "logs", name);
    return {
      turns: (await project.read((tx) => tx.turns.listFor(agent?.id ?? ""))).length,
      events: (await project.read((tx) => tx.events.after(0, 10_000))).filter(({ agentName }) => agentName === name)
        .length,
      logs: existsSync(logs) ? readdirSync(logs).length : 0,
      costs: (await project.read((tx) => tx.spending.sums("agent", { agentName: name }, 9))).length,
    };
  };
  const before = [await left("gone"), await left("held")];
  for (const one of before) expect(one).toEqual({ turns: 1, events: expect.any(Number), logs: 1, costs: 1 });

  await roundAt(project, dayMs);
  expect([await left("gone"), await left("held")]).toEqual(before);
  await roundAt(project, 3 * dayMs);
  expect(await left("gone")).toMatchObject({ turns: 1, events: before[0]?.events ?? 0, logs: 0, costs: 1 });
  await roundAt(project, 5 * dayMs);
  expect(await left("gone")).toEqual({ turns: 1, events: 0, logs: 0, costs: 1 });
  await roundAt(project, 7 * dayMs);
  expect(await left("gone")).toEqual({ turns: 0, events: 0, logs: 0, costs: 1 });
  await roundAt(project, 9 * dayMs);
  expect(await left("gone")).toEqual({ turns: 0, events: 0, logs: 0, costs: 0 });
  expect(await left("held")).toMatchObject({ turns: 1, logs: 1, costs: 1 });
  const removed = (await eventsOf(project, "old_pruned")).map(({ data }) => JSON.parse(String(data)).removed);
  expect(removed).toContainEqual(expect.objectContaining({ turns: 1 }));
  expect((await project.ov("logs", "gone")).code).toBe(0);

  // An agent can be recovered although its old turns were deleted.
  await project.json("recover", "gone");
  await untilAgent(project, "gone", "between_turns");
}, 180_000);
