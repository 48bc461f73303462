import { expect, test } from "bun:test";
import { join } from "node:path";
import { letGo, slingNew, untilTurns } from "../../testkit/lifecycle.ts";
import { makeProject, type TestProject } from "../../testkit/project.ts";
import { serveWeb } from "../../testkit/web.ts";

/** Each agent asks something and waits for the answer. */
const scenario = `
- when: { capability: coordinator }
  do: [{ say: I wait. }]
- when: { turn: 1 }
  do:
    - ov: [mail, send, --to, operator, --type, question, --subject, Which, --body, Which one?]
- do: [{ say: I have read it. }]
`;
/** Nothing lands before `go` is there. */
const config = `merge:\n  setup: test -e "$HOME/go"\n`;

interface Act {
  /** After POST /api/. */
  readonly path: string;
  readonly body?: object;
  readonly reply: object;
  /** What is so afterwards. */
  readonly after: () => Promise<unknown>;
  readonly is: unknown;
}

const ofTasks = (...taskIds: string[]) => ({ taskIds });

/** A branch that cannot land, because its dependencies cannot be installed. */
const blockedBranch = async (project: TestProject): Promise<number> => {
  await project.git("checkout", "--quiet", "-b", "a", "main");
  await Bun.write(join(project.root, "a.txt"), "a\n");
  await project.git("add", "a.txt");
  await project.git("commit", "--quiet", "-m", "work of a");
  await project.git("checkout", "--quiet", "main");
  const id = Number((await project.json("merge", "add", "a", "--into", "main")).id);
  await project.ov("merge", "approve", String(id));
  await project.until(
    "a was blocked",
    async () => (await project.read((tx) => tx.merges.get(id)))?.status === "blocked",
  );
  return id;
};

test("what a person does by the page is done by its addresses: agents, groups, criteria and a blocked branch", async () => {
  await using project = await makeProject({ scenario, config, gates: ["true"] });
  const web = await serveWeb(project);
  const { runId } = await project.json("coordinator", "start", "--objective", "Have a file");
  await project.json("run", "criteria", "waive", "1", "--reason", "by mistake");
  await slingNew(project, "B1");
  await untilTurns(project, "b1", 1);
  const group = String((await project.json("group", "create", "g1", "B1")).id);
  await project.json("task", "create", "Another", "--id", "T2");
  const blocked = await blockedBranch(project);

  const b1 = () => project.agent("b1");
  const holds = async () =>
    (await project.read((tx) => tx.waits.of("b1"))).map(({ kind }) => kind).includes("operator");
  const members = () => project.read((tx) => tx.groups.members(group));
  const stopped = async () => {
    await project.json("stop", "b1");
    return (await b1()).outcome;
  };
  const acts: readonly Act[] = [
    {
      path: "agents/b1/nudge",
      body: { message: "Look at it once more" },
      reply: { agentName: "b1", delivered: true, messageId: expect.any(String) },
      after: async () => (await project.read((tx) => tx.messages.list({ to: "b1", type: "status" })))[0]?.body,
      is: "Look at it once more",
    },
    { path: "agents/b1/pause", reply: { paused: ["b1"], alreadyPaused: [] }, after: holds, is: true },
    { path: "agents/b1/pause", reply: { paused: [], alreadyPaused: ["b1"] }, after: holds, is: true },
    { path: "agents/b1/resume", reply: { resumed: ["b1"], unchanged: [] }, after: holds, is: false },
    { path: "agents/b1/resume", reply: { resumed: [], unchanged: ["b1"] }, after: stopped, is: "stopped" },
    {
      path: "agents/b1/retry",
      reply: { agentName: "b1" },
      after: async () => {
        const { generation } = await b1();
        await stopped();
        return generation;
      },
      is: 2,
    },
    {
      path: "agents/b1/release",
      reply: { agentName: "b1", alreadyReleased: false, released: ["b1"] },
      after: async () => (await b1()).releasedAt,
      is: expect.any(Number),
    },
    { path: `groups/${group}/add`, body: ofTasks("T2"), reply: { id: group }, after: members, is: ["B1", "T2"] },
    { path: `groups/${group}/remove`, body: ofTasks("B1"), reply: { id: group }, after: members, is: ["T2"] },
    {
      path: "coordinator/check-complete",
      reply: { complete: false, triggers: { taskTrackerEmpty: { met: false } } },
      after: async () => (await project.read((tx) => tx.runs.get(String(runId))))?.status,
      is: "active",
    },
    {
      path: `runs/${runId}/criteria/1/unwaive`,
      reply: { criteria: [{ number: 1, status: "open", waived: null }] },
      after: async () => (await project.read((tx) => tx.criteria.of(String(runId))))[0]?.waivedAt ?? null,
      is: null,
    },
    {
      path: `merge/${blocked}/resume`,
      reply: { entry: { id: blocked, status: "pending" } },
      after: async () => {
        await letGo(project);
        await project.until("a had landed", async () => {
          const entry = await project.read((tx) => tx.merges.get(blocked));
          return entry?.status === "merged";
        });
        return true;
      },
      is: true,
    },
  ];
  for (const { path, body = {}, reply, after, is } of acts) {
    const answer = await web.send("POST", `/api/${path}`, body);
    const text = await answer.text();
    expect([path, answer.status, answer.status === 200 ? "" : text]).toEqual([path, 200, ""]);
    expect(JSON.parse(text)).toMatchObject(reply);
    expect([path, await after()]).toEqual([path, is]);
  }
}, 120_000);
