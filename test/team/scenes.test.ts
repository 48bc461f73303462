import { expect, test } from "bun:test";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { payloadFields } from "../../src/domain/mail/payload.ts";
import { makeProject, type TestProject } from "../../testkit/project.ts";
import {
  type PlayedTurn,
  partsOf,
  playedTurns,
  type Scene,
  sceneScenario,
  writeScene,
} from "../../testkit/team/scene.ts";

const limitMs = 240_000;

const textTools: Scene = {
  objective: "Give the tool the words up, down and flip, list them in src/index.js, and tell users in the changelog",
  criteria: [
    "up makes a text upper case",
    "down makes a text lower case",
    "flip swaps the case, by up and down",
    "src/index.js lists all three",
    "the changelog names them",
  ],
  proofs: { 1: "src/up.js", 2: "src/down.js", 3: "src/flip.js", 4: "src/index.js", 5: "CHANGELOG.md" },
  shared: "src/index.js",
  streams: [
    {
      task: "CASES",
      lead: "lead-cases",
      criteria: [1, 2, 4],
      lazy: true,
      parts: [
        { task: "UP", builder: "up", criteria: [1], file: "src/up.js", text: "up\n", silent: true },
        { task: "DOWN", builder: "down", criteria: [2], file: "src/down.js", text: "down\n", bug: "up, too\n" },
      ],
    },
    {
      task: "FLIPS",
      lead: "lead-flips",
      criteria: [3, 4],
      blockedBy: "CASES",
      parts: [{ task: "FLIP", builder: "flip", criteria: [3], file: "src/flip.js", text: "flip\n" }],
    },
  ],
  forgotten: { task: "LOG", builder: "log", criteria: [5], file: "CHANGELOG.md", text: "- up, down, flip\n" },
};

const noXml = "no xml after all";

const importers: Scene = {
  objective: "Import csv, json and xml, list them in src/index.js, build the report on csv, and write the guide",
  criteria: ["csv is read", "json is read", "xml is read", "the report is built on csv", "the guide tells how"],
  proofs: { 1: "src/csv.js", 2: "src/json.js", 4: "src/report.js", 5: "GUIDE.md", 6: "src/index.js" },
  shared: "src/index.js",
  streams: [
    {
      task: "READ",
      lead: "lead-read",
      criteria: [1, 2, 3],
      parts: [
        { task: "CSV", builder: "csv", criteria: [1], file: "src/csv.js", text: "csv\n", bug: "tsv\n" },
        { task: "JSON", builder: "json", criteria: [2], file: "src/json.js", text: "json\n", asks: "Which way?" },
        { task: "XML", builder: "xml", criteria: [3], file: "src/xml.js", text: "xml\n", until: "never" },
      ],
    },
    {
      task: "REPORTS",
      lead: "lead-reports",
      criteria: [4],
      blockedBy: "READ",
      parts: [
        { task: "REPORT", builder: "report", criteria: [4], file: "src/report.js", text: "report\n", until: "go" },
      ],
    },
  ],
  forgotten: { task: "GUIDE", builder: "guide", criteria: [5], file: "GUIDE.md", text: "How to import\n" },
  change: { words: noXml, task: "XML" },
};

const runOf = (project: TestProject) => project.read(async (tx) => (await tx.runs.list(1))[0]);

async function play(scene: Scene): Promise<TestProject> {
  const project = await makeProject({
    files: { "README.md": "# Tool\n", "src/index.js": 'export * from "./first.js";\n' },
    gates: ["test ! -e broken"],
    scenario: sceneScenario,
  });
  writeScene(project.home, scene);
  await project.json("coordinator", "start", "--objective", scene.objective);
  return project;
}

const untilFile = (project: TestProject, name: string) =>
  project.until(`${name} was there`, async () => existsSync(join(project.home, name)), limitMs);

/** Waits for the end of the run, and of everything in it. */
async function untilCompleted(project: TestProject): Promise<void> {
  await project.until("the run was complete", async () => (await runOf(project))?.status === "completed", limitMs);
  await project.settled(limitMs);
}

/** The agent changed nothing in this turn. */
const isEmpty = ({ acts }: PlayedTurn): boolean => acts.length === 0;
/** The agent only passed on in this turn what others had written. */
const isRelay = ({ acts }: PlayedTurn): boolean => acts.length > 0 && acts.every((act) => act === "relay");

function count(name: string, turns: readonly PlayedTurn[]): void {
  const empty = turns.filter(isEmpty);
  const relays = turns.filter(isRelay);
  console.log(`${name}: ${turns.length} turns, ${empty.length} of them empty, ${relays.length} pure relays`);
  for (const [at, { agent, acts, refused }] of turns.entries()) {
    console.log(`${at + 1}. ${agent}: ${acts.join(", ") || "nothing"}`);
    for (const refusal of refused) console.log(`   refused: ${refusal.split("\n")[0]}`);
  }
  for (const { agent, prompt } of [...empty, ...relays]) console.log(`${agent} was shown for nothing:\n${prompt}`);
}

/** What holds after each scene, however its agents behaved. */
async function expectHonestEnd(project: TestProject, scene: Scene): Promise<void> {
  const turns = playedTurns(project);
  count(scene.objective, turns);
  expect(turns.filter(isEmpty).length).toBeLessThanOrEqual(turns.length / 20);
  expect(turns.filter(isRelay)).toEqual([]);
  expect(await project.read((tx) => tx.tasks.list({ unclosed: true }))).toEqual([]);
  expect(await project.read((tx) => tx.messages.list({ type: "worker_died" }))).toEqual([]);
  const landing = (await runOf(project))?.landingBranch ?? "";
  const at = (file: string) => project.git("show", `${landing}:${file}`);
  for (const { file, text, task } of partsOf(scene)) {
    if (task !== scene.change?.task) expect(await at(file)).toStartWith(text);
  }
  const listed = partsOf(scene).filter((part) => part !== scene.forgotten && part.task !== scene.change?.task);
  for (const { builder } of listed) expect(await at(scene.shared)).toContain(`export * from "./${builder}.js";`);
  // The pass of the last reviewer ends the run: no turn of the coordinator comes after it.
  expect(turns.at(-1)?.agent).toStartWith("last-review-");
  const [letter] = await project.read((tx) => tx.messages.list({ to: "operator", type: "status", limit: 1 }));
  expect(letter?.subject).toEndWith("is complete");
  // The coordinator was told at planning time, and could not end the run before it was built.
  const forgotten = scene.forgotten.criteria[0];
  const refused = turns.filter(({ agent }) => agent === "coordinator").flatMap((turn) => turn.refused);
  expect(refused.join("\n")).toContain(`criterion ${forgotten} has no proof`);
  const criteria = await project.read(async (tx) => tx.criteria.of((await tx.runs.list(1))[0]?.id ?? ""));
  expect(criteria.filter(({ proofKind, waivedAt }) => proofKind === null && waivedAt === null)).toEqual([]);
}

/** The reviewer's verdict about the planted bug reached the builder with file and line. */
async function expectCaught(project: TestProject, builder: string, file: string): Promise<void> {
  const reviews = await project.read((tx) => tx.messages.list({ type: "review" }));
  const failed = reviews.map(({ payload }) => payloadFields(payload)).filter(({ verdict }) => verdict === "fail");
  expect(failed).toMatchObject([{ findings: [{ file, line: 1 }] }]);
  const told = playedTurns(project).filter(({ agent, prompt }) => agent === builder && prompt.includes(`${file}:1`));
  expect(told).toHaveLength(1);
}

test(
  "a lazy lead, a silent builder, a planted bug and a forgotten criterion: all of the objective lands, in turns that decide something",
  async () => {
    await using project = await play(textTools);
    await untilCompleted(project);
    await expectHonestEnd(project, textTools);
    await expectCaught(project, "down", "src/down.js");
    const [lazy] = playedTurns(project).filter(({ agent }) => agent === "lead-cases");
    expect(lazy?.refused.join()).toContain("nobody has built anything for this lead");
  },
  limitMs + 60_000,
);

test(
  "a change of mind, a late answer and mail to a working agent: what is wanted at the end lands, in turns that decide something",
  async () => {
    await using project = await play(importers);
    await untilFile(project, "xml.waits");
    await project.json("run", "change", noXml, "--waive", "3");
    await project.until("xml was dropped", async () => {
      return (await project.read((tx) => tx.tasks.get("XML")))?.status === "closed";
    });
    // Everybody else is done by now. The answer comes late.
    await project.until("only the answer was missing", async () => {
      return (await project.read((tx) => tx.tasks.get("CSV")))?.status === "closed";
    });
    await project.settled();
    const [question] = await project.read((tx) => tx.messages.list({ type: "decision_gate", from: "json" }));
    await project.json("decide", question?.id ?? "", "left");
    await untilFile(project, "report.waits");
    await project.json("mail", "send", "--to", "report", "--subject", "Its name", "--body", "Call it summary");
    writeFileSync(join(project.home, "go"), "");
    await untilCompleted(project);
    await expectHonestEnd(project, importers);
    await expectCaught(project, "csv", "src/csv.js");
    const landing = (await runOf(project))?.landingBranch ?? "";
    expect(await project.git("show", `${landing}:src/json.js`)).toContain("// left");
    expect(await project.git("show", `${landing}:src/report.js`)).toContain("// called summary");
    expect(await project.git("ls-tree", "-r", "--name-only", landing)).not.toContain("xml");
    // The work on what was dropped is kept.
    expect(await project.git("show", "overstory/xml/XML:src/xml.js")).toBe("xml\n");
  },
  limitMs + 60_000,
);
