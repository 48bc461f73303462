import { expect, test } from "bun:test";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { untilAgent } from "../../testkit/lifecycle.ts";
import { makeProject, type TestProject } from "../../testkit/project.ts";
import { statePath } from "../../testkit/state.ts";

/** What the lead does in each turn, from how things stand: its mail may come in one turn or in several. */
const lead = `import { execFileSync } from "node:child_process";
import { appendFileSync } from "node:fs";

function ov(...words) {
  try {
    return JSON.parse(execFileSync("ov", [...words, "--json"], { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] }));
  } catch (error) {
    return JSON.parse(error.stdout);
  }
}
const look = () => new Map(ov("status", "--all").agents.map((agent) => [agent.agentName ?? agent.name, agent.state]));
let known = look();
// Who reported ends a moment later: this lead goes by how things stand, not by its mail.
for (let tries = 0; tries < 50 && [...known].some(([name, state]) => name === "m1" && state !== "completed"); tries++) {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
  known = look();
}
const entries = ov("merge", "list", "--all").entries ?? [];
const last = (branch) => entries.filter((entry) => (entry.branchName ?? entry.branch) === branch).at(-1);
const handOver = (branch) =>
  ov("mail", "send", "--to", "coordinator", "--type", "merge_ready", "--subject", branch, "--body", "verified", "--payload", JSON.stringify({ branch }));
const isDone = (...names) => names.every((name) => known.get(name) === "completed");
const [one, two, joined] = ["overstory/b1/T1", "overstory/b2/T2", "overstory/m1/J"];

if (!known.has("b1")) {
  for (const [task, name] of [["T1", "b1"], ["T2", "b2"]]) {
    ov("task", "create", "Say it", "--id", task);
    ov("sling", task, "--name", name, "--files", "word.txt", "--allow-overlap");
  }
} else if (last(one) === undefined) {
  if (isDone("b1", "b2")) for (const branch of [one, two]) handOver(branch);
} else if (!known.has("m1")) {
  if (last(two).status === "conflict") {
    ov("task", "create", "Join " + two, "--id", "J", "--description", "Join " + two + " into what has landed: both words are wanted");
    ov("sling", "J", "--capability", "merger", "--name", "m1");
  }
} else if (isDone("m1")) {
  const early = ov("done", "--summary", "both are in");
  if (!early.success) appendFileSync(process.env.HOME + "/refused", JSON.stringify(early) + "\\n");
  if (last(joined) === undefined) handOver(joined);
}
`;

/** Both builders change the same line. The second is called back for it and cannot decide it alone: a merger does. */
const scenarioWhere = (calledBack: string): string => `
- when: { capability: coordinator, turn: 1 }
  do:
    - ov: [task, create, The words, --id, L]
    - ov: [sling, L, --capability, lead, --name, lead1]
- when: { capability: coordinator }
  do:
    - shell: ov run criteria prove 1 --file word.txt; ov run complete || true
- when: { capability: lead }
  do:
    - shell: node "$HOME/parts/lead.mjs"
- when: { agent: b2, input: "merge failed (conflict)" }
  do:
    - shell: ${calledBack}
- when: { agent: b2, input: "merged: overstory/b2/T2" }
  do:
    - ov: [done, --summary, It has landed]
- when: { capability: builder }
  do:
    - edit: { file: word.txt, write: "\${agent}\\n" }
    - commit: my word
    - ov: [done, --summary, There is a word]
- when: { capability: merger }
  do:
    - shell: git merge --no-edit overstory/b2/T2
      expect: 1
    - shell: |
        git checkout --ours word.txt && git commit --all --quiet -m "keep ours"
        ov done --summary "They are joined" >"$HOME/kept-ours" 2>&1
      expect: 4
    - edit: { file: word.txt, write: "b1\\nb2\\n" }
    - commit: join them
    - ov: [done, --summary, Both words are there]
`;

const instructionsOf = ({ root }: TestProject, name: string): string =>
  readFileSync(statePath(root, "agents", name, "instructions.md"), "utf8");

const asks = "ov mail send --to lead1 --type question --subject Which --body 'which word is wanted?'";
// The first finish is refused for the conflict, which is said once.
const finishes = "ov done --summary again || ov done --summary 'That is for somebody who knows both'";

test.each([
  ["asks", asks, ["b2", "lead1"], "b2 is still at work"],
  ["finishes once more", finishes, ["lead1"], "when a merger joins it, wait until that has landed"],
])(
  "what no rule can join, and whose builder %s, a merger joins; handed over, it lands with both tasks, and the run is over",
  async (_, calledBack, told, early) => {
    const scenario = scenarioWhere(calledBack);
    await using project = await makeProject({
      scenario,
      gates: ["test -s word.txt"],
      files: { "word.txt": "none\n" },
      config: "coordinator:\n  lastReview: false\n",
    });
    mkdirSync(join(project.home, "parts"));
    writeFileSync(join(project.home, "parts", "lead.mjs"), lead);
    const { runId } = await project.json("coordinator", "start", "--objective", "Say two words", "--target", "main");
    await project.until(
      "the run was over",
      async () => (await project.read((tx) => tx.runs.get(String(runId))))?.status === "completed",
      200_000,
    );
    await untilAgent(project, "lead1", "completed/done");

    for (const task of ["T1", "T2", "J"]) {
      expect(await project.read((tx) => tx.tasks.get(task))).toMatchObject({ status: "closed", mergeState: "merged" });
    }
    expect(await project.read((tx) => tx.tasks.get("L"))).toMatchObject({ status: "closed" });
    const entries = await project.read((tx) => tx.merges.list({}));
    expect(entries.map(({ branch, status, tier }) => [branch, status, tier])).toEqual([
      ["overstory/b1/T1", "merged", "clean-merge"],
      ["overstory/b2/T2", "merged", "ai-resolve"],
      ["overstory/m1/J", "merged", "clean-merge"],
    ]);
    expect(entries[1]?.resultCommit).toBe(entries[2]?.resultCommit ?? "");
    expect(await project.git("show", `${entries[2]?.targetBranch}:word.txt`)).toBe("b1\nb2\n");
    // The lead goes with the turn of the coordinator that read its report, which may end after the run.
    for (const name of ["b1", "b2", "m1", "lead1"]) {
      await project.until(`${name} was released`, async () => (await project.agent(name)).releasedAt !== null);
    }

    const mail = await project.read((tx) => tx.messages.list({ type: "merged" }));
    const readers = mail.filter(({ subject }) => subject === "merged: overstory/b2/T2").map(({ address }) => address);
    // A lead that ends before it has read its own hands it on to whoever is above, who is not told otherwise.
    expect([...new Set(readers)].filter((name) => name !== "coordinator").toSorted()).toEqual(told);
    expect(mail.filter(({ fromAgent }) => fromAgent === "m1")).toMatchObject([{ address: "lead1" }]);
    const keptOurs = readFileSync(join(project.home, "kept-ours"), "utf8");
    expect(keptOurs).toContain("overstory/b2/T2 is in the history, but its changes of word.txt are not in the files");
    const refusals = readFileSync(join(project.home, "refused"), "utf8");
    expect(refusals).toContain("overstory/m1/J of m1 was never handed over");
    expect(refusals).toContain(early);
    expect(instructionsOf(project, "m1")).toContain("merge into it only the branches you were given");
  },
  240_000,
);
