import { expect, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { slingNew, untilAgent, untilFile } from "../../testkit/lifecycle.ts";
import { makeProject, type TestProject } from "../../testkit/project.ts";

interface Attempt {
  readonly line: string;
  /** How the refusal begins when the builder shows its token. */
  readonly says: string;
  readonly action: string;
}

const onlyParent = "only the parent of its agent and the operator decide about a branch";
const onlyOperator = "only the operator may do this";

/** What a builder has no right to. `x` is another builder at work on task X; its branch waits in the queue. */
const attempts: readonly Attempt[] = [
  { line: "sling T9 --name helper", says: "b1 may not start a builder", action: "agent.sling" },
  { line: "sling T9 --capability lead --name helper", says: "b1 may not start a lead", action: "agent.sling" },
  { line: "merge add overstory/x/X", says: `b1 may not queue overstory/x/X: ${onlyParent}`, action: "merge.add" },
  { line: "merge add overstory/b1/B1", says: `b1 may not queue overstory/b1/B1: ${onlyParent}`, action: "merge.add" },
  { line: "merge --branch other", says: "b1 may not queue other", action: "merge.add" },
  { line: "merge approve overstory/x/X", says: `b1 may not merge.approve: ${onlyOperator}`, action: "merge.approve" },
  { line: "merge reject overstory/x/X --reason no", says: "b1 may not merge.reject", action: "merge.reject" },
  { line: "merge cancel overstory/x/X", says: "b1 may not merge.cancel", action: "merge.cancel" },
  { line: "merge retry overstory/x/X", says: "b1 may not retry overstory/x/X", action: "merge.retry" },
  { line: "merge resume overstory/x/X", says: "b1 may not resume overstory/x/X", action: "merge.resume" },
  { line: "merge undo --last --yes", says: "b1 may not merge.requestUndo", action: "merge.requestUndo" },
  { line: "merge promote", says: "b1 may not merge.requestPromotion", action: "merge.requestPromotion" },
  { line: "decide merge:2 approve", says: "b1 may not operator.decide", action: "operator.decide" },
  { line: "stop x", says: "b1 may not stop x: it leads no agents", action: "agent.stop" },
  { line: "pause x", says: "b1 may not pause x", action: "agent.pause" },
  { line: "release x", says: "b1 may not release x", action: "agent.release" },
  { line: "engine stop", says: "b1 may not stop the engine", action: "stop the engine" },
  { line: "run complete", says: "b1 may not complete run-", action: "run.complete" },
  { line: "mail send --to lead1 --from x --subject s --body b", says: "b1 may not write as x", action: "mail.send" },
  {
    line: "mail send --to lead1 --agent operator --subject s --body b",
    says: "b1 may not write as operator",
    action: "mail.send",
  },
  {
    line: "mail send --to lead1 --type merge_ready --subject s --body b",
    says: "a builder may not send mail of type merge_ready",
    action: "mail.send",
  },
  { line: "mail list --to x", says: "b1 may not list the mail of x: an agent sees its own mail", action: "mail.list" },
  { line: "mail list --from lead1", says: "b1 may not list the mail of lead1", action: "mail.list" },
  { line: "done --agent x --summary finished", says: "b1 may not finish for x", action: "done.request" },
  { line: "task close X", says: "b1 may not close task X: it is not its own task", action: "task.close" },
  { line: "task claim T9", says: "b1 may not claim task T9", action: "task.claim" },
  { line: "task update X --title other", says: "b1 may not change task X", action: "task.update" },
];

/** With another's name the token still says whose process it is; without a token its ancestors do. */
const masks = {
  "with its token": "",
  "with its token and another's name": "OVERSTORY_AGENT_NAME=lead1 ",
  "without its token": "env -u OVERSTORY_TOKEN ",
  "without its token, as somebody else": "env -u OVERSTORY_TOKEN OVERSTORY_AGENT_NAME=operator ",
} as const;

const tries = Object.entries(masks).flatMap(([how, mask]) => attempts.map((attempt) => ({ how, mask, ...attempt })));

/** A file of the agent's home, as scenarios name it. */
const homeFile = (name: string): string => ["$", `{env.HOME}/${name}`].join("");

const scenario = JSON.stringify([
  {
    when: { agent: "b1" },
    do: [
      { waitFor: { file: homeFile("go"), timeoutMs: 600_000 } },
      ...tries.map(({ mask, line }, n) => ({
        shell: `${mask}ov ${line} --json >"$HOME/said.${n}" 2>/dev/null </dev/null; echo $? >"$HOME/code.${n}"`,
      })),
      { touch: homeFile("tried") },
      { hang: true },
    ],
  },
  { do: [{ hang: true }] },
]);

async function teamAtWork(): Promise<TestProject> {
  const project = await makeProject({ scenario });
  await commitTo(project, "landed");
  await commitTo(project, "other");
  await project.json("merge", "--branch", "landed");
  await slingNew(project, "LEAD1", "--capability", "lead");
  await slingNew(project, "X");
  await slingNew(project, "B1");
  await project.json("task", "create", "Another task", "--id", "T9");
  for (const name of ["lead1", "x", "b1"]) await untilAgent(project, name, "in_turn");
  await commitTo(project, "overstory/x/X");
  await project.json("merge", "add", "overstory/x/X");
  return project;
}

/** A commit on a branch, without a checkout of it. */
async function commitTo(project: TestProject, branch: string): Promise<void> {
  const tree = (await project.git("rev-parse", "main^{tree}")).trim();
  const commit = (await project.git("commit-tree", tree, "-p", "main", "-m", `on ${branch}`)).trim();
  await project.git("update-ref", `refs/heads/${branch}`, commit);
}

const everything = (project: TestProject): Promise<unknown> =>
  project.read(async (tx) => ({
    agents: (await tx.agents.list({})).map(({ name, state, stopRequestedBy, releasedAt }) => [
      name,
      state,
      stopRequestedBy,
      releasedAt,
    ]),
    tasks: (await tx.tasks.list({})).map(({ id, title, status, claimedBy }) => [id, title, status, claimedBy]),
    merges: (await tx.merges.list({})).map(({ branch, status, approval }) => [branch, status, approval]),
    messages: (await tx.messages.list({})).map(({ id }) => id),
    runs: (await tx.runs.list(9)).map(({ id, status }) => [id, status]),
  }));

test("a builder has no way to start, land, stop, impersonate, eavesdrop or close, and every try is on record", async () => {
  await using project = await teamAtWork();
  const before = await everything(project);
  const earlier = (await project.read((tx) => tx.audit.list(1000))).length;
  writeFileSync(join(project.home, "go"), "");
  await project.until("all was tried", async () => existsSync(join(project.home, "tried")), 240_000);
  const noted = (file: string): string => readFileSync(join(project.home, file), "utf8").trim();
  const answers = tries.map(({ how, line, says, action }, n) => {
    const answer = JSON.parse(noted(`said.${n}`));
    return { how, line, says, action, code: noted(`code.${n}`), message: String(answer.error ?? noted(`said.${n}`)) };
  });
  expect(answers.filter(({ code }) => code !== "8")).toEqual([]);
  // Whoever hides is not even shown what a command looks at first.
  for (const { how, message, says, action } of answers) {
    const hidden = how.startsWith("without") && action !== "stop the engine";
    if (hidden) expect(message).toMatch(/^b1 may not [\w.-]+: it runs inside an agent's/);
    else expect(message).toStartWith(says);
  }
  // A release looks at the worktree first. That look is refused to whoever hides, and is on record by itself.
  const audited = (await project.read((tx) => tx.audit.list(1000)))
    .toReversed()
    .slice(earlier)
    .filter(({ action }) => action !== "agent.listUnsettled");
  expect(audited.map(({ caller, refused }) => [caller, refused])).toEqual(tries.map(() => ["b1", true]));
  const open = tries.flatMap(({ how, action }, n) => (how.startsWith("without") ? [] : [[action, audited[n]?.action]]));
  for (const [action, recorded] of open) expect(recorded).toBe(action);
  const own = answers.filter(({ how }) => how === "with its token").map(({ message }) => message);
  expect(new Set(own).size).toBe(own.length);
  expect(await everything(project)).toEqual(before);
}, 300_000);

test("what only the operator may read stays closed to an agent, however it hides", async () => {
  const lines = ["inbox --peek", "worktree clean --all", "clean --all", "attach b1"];
  const reading = lines.flatMap((line) => Object.values(masks).map((mask) => `${mask}ov ${line}`));
  const scenario = JSON.stringify([
    {
      do: [
        { shell: reading.map((line) => `${line} </dev/null >/dev/null 2>&1; echo $? >>"$HOME/codes"`).join("\n") },
        { touch: homeFile("tried") },
        { hang: true },
      ],
    },
  ]);
  await using project = await makeProject({ scenario });
  await slingNew(project, "B1");
  await untilFile(project, "tried");
  const codes = readFileSync(join(project.home, "codes"), "utf8").trim().split("\n");
  expect(reading.map((line, n) => `${line}: ${codes[n]}`)).toEqual(reading.map((line) => `${line}: 8`));
}, 120_000);
