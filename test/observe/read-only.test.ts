import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Leaf, leaves, type Samples, shortestLine } from "../../testkit/leaves.ts";
import { databaseBytes, databaseOf, letGo, nobodyLeft, slingNew, untilAgent } from "../../testkit/lifecycle.ts";
import { makeProject, type TestProject } from "../../testkit/project.ts";

const scenario = `
- when: { agent: t1 }
  do:
    - edit: { file: a.txt, write: "a\\n" }
    - commit: work
    - ov: [done, --summary, It is made]
- when: { agent: t2 }
  do:
    - ov: [mail, send, --to, operator, --type, question, --subject, Which, --body, "which?"]
- do: []
`;

/**
 * The commands that change something. Every other command of the tree only looks, and this file tries it: a command that is
 * added later must leave the database alone, or be named here.
 */
const changing: ReadonlySet<string> = new Set([
  ...["init", "import", "go", "discover", "inbox", "decide", "sling", "stop", "pause", "resume", "attach", "recover"],
  ...["release", "nudge", "done", "watch", "run-until-idle", "demo", "update", "clean"],
  ...["start", "stop", "send", "ask"].flatMap((verb) => [`coordinator ${verb}`, `orchestrator ${verb}`]),
  ...["supervisor start", "supervisor stop"],
  ...["create", "update", "claim", "close", "drop", "reopen", "dep add", "dep rm", "import"].map(
    (verb) => `task ${verb}`,
  ),
  ...["spec write", "group create", "group add", "group remove"],
  ...["send", "check", "read", "reply", "retry", "purge"].map((verb) => `mail ${verb}`),
  ...["merge", "merge add", "merge approve", "merge reject", "merge cancel", "merge retry"],
  ...["merge pause", "merge resume", "merge move", "merge undo", "merge promote", "gate run", "gate verify"],
  ...["run change", "run retarget", "run complete"],
  ...["add", "prove", "amend", "waive", "unwaive"].map((verb) => `run criteria ${verb}`),
  ...["notify test", "budget raise", "log", "hook", "hooks install", "hooks uninstall", "mcp"],
  ...["config set", "config unset", "trust add", "trust remove", "worktree clean", "snapshots restore"],
  ...["engine start", "engine stop", "engine install", "serve", "serve login", "serve revoke", "serve stop"],
]);

/** Commands that change something, with the flag by which they only look; and looks that differ from the shortest line. */
const further: readonly string[] = [
  "status --all --verbose",
  "status --agent t1",
  "inbox --peek",
  "mail list --unread",
  "task list --all",
  "trace t1 --turns",
  "trace T1",
  "errors --group",
  "feed --since 1h",
  "logs t1",
  "costs --by agent",
  "costs --by day",
  "costs --live",
  "costs --csv",
  "metrics --last 1",
  "prime --compact",
  "prime --agent t1",
  "merge --dry-run --all",
  "merge list --all",
  "prompt show builder",
  "diff t1 --stat",
  "clean --dry-run --all",
  "doctor --dry-run --fix",
  "update --dry-run",
  "sling T3 --name t9 --dry-run",
];

/** Commands whose shortest line asks for something that this project does not have: they say so. */
const refused: ReadonlySet<string> = new Set(["orchestrator output", "guard explain", "snapshots show"]);

const nameOf = ({ path }: Leaf): string => path.join(" ");

let project: TestProject;
let samples: Samples;
/** The lines of commands that need more than the tree requires, or a value of a kind that it does not name. */
let lineOf: Readonly<Record<string, readonly string[]>>;
beforeAll(async () => {
  project = await makeProject({ scenario, gates: ["true"] });
  await letGo(project);
  await project.json("coordinator", "start", "--objective", "Look");
  await slingNew(project, "T1");
  await slingNew(project, "T2");
  await project.json("task", "create", "Later", "--id", "T3");
  await project.json("spec", "write", "T1", "--body", "Make a file.");
  await project.json("group", "create", "both", "T1", "T2");
  await untilAgent(project, "t1", "completed/done");
  await untilAgent(project, "t2", "between_turns");
  await project.settled();
  await nobodyLeft(project);
  const [message] = await project.read((tx) => tx.messages.list({ to: "operator" }));
  const { runId } = await project.agent("t1");
  const [merge] = await project.read((tx) => tx.merges.list({}));
  samples = {
    agents: "t1",
    liveAgents: "t2",
    tasks: "T1",
    runs: String(runId),
    groups: "both",
    merges: String(merge?.id),
    branches: "overstory/t1/T1",
    messages: String(message?.id),
    configKeys: "notify.bell",
    files: "README.md",
  };
  const results = (await project.json("gate", "list")).results as readonly { readonly id: string }[];
  lineOf = {
    "prompt show": ["prompt", "show", "builder"],
    "guard test": ["guard", "test", "--role", "builder", "--", "ls"],
    "gate log": ["gate", "log", String(results[0]?.id)],
    "gate show": ["gate", "show", "t1"],
  };
}, 120_000);
afterAll(() => project[Symbol.asyncDispose]());

test("every command that is named as changing exists", () => {
  const known = new Set(leaves().map(nameOf));
  expect([...changing].filter((name) => !known.has(name))).toEqual([]);
});

test("every command that looks leaves the database byte for byte as it is, with no engine and nothing due", async () => {
  using watcher = new Database(databaseOf(project), { readonly: true });
  const stand = (): unknown => ({ version: watcher.query("PRAGMA data_version").get(), bytes: databaseBytes(project) });
  const looking = leaves().filter((leaf) => !changing.has(nameOf(leaf)));
  const lines = [
    ...looking.map((leaf) => ({
      words: lineOf[nameOf(leaf)] ?? shortestLine(leaf, samples),
      isRefused: refused.has(nameOf(leaf)),
    })),
    ...further.map((line) => ({ words: line.split(" "), isRefused: false })),
    // It fails while something waits for the operator.
    { words: ["status", "--check"], isRefused: true },
  ];
  const failed: string[] = [];
  const changed: string[] = [];
  let before = JSON.stringify(stand());
  for (const { words, isRefused } of lines) {
    const ran = await project.ovWith({ stdin: "" }, ...words);
    if ((ran.code !== 0) !== isRefused) failed.push(`${words.join(" ")}: ${ran.code} ${ran.err || ran.out}`);
    const after = JSON.stringify(stand());
    if (after !== before) changed.push(words.join(" "));
    before = after;
  }
  expect(changed).toEqual([]);
  expect(failed).toEqual([]);
  expect(project.processes()).toEqual([]);
}, 240_000);
