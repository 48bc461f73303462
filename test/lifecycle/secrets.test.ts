import { expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { nobodyLeft, untilAgent } from "../../testkit/lifecycle.ts";
import { makeProject, type TestProject } from "../../testkit/project.ts";
import { type PlantedSecret, plantedSecrets } from "../../testkit/secrets.ts";
import { statePath } from "../../testkit/state.ts";

/** Ways by which a text gets to us. Each gets its share of the secrets. */
const ways = [
  "task",
  "spec",
  "letter",
  "nudge",
  "said",
  "thought",
  "input",
  "output",
  "error",
  "plain",
  "parts",
  "mail",
  "gate",
  "commit",
  "summary",
  "result",
] as const;
type Way = (typeof ways)[number];

function shares(secrets: readonly PlantedSecret[]): Readonly<Record<Way, readonly PlantedSecret[]>> {
  const made = Object.fromEntries(ways.map((way) => [way, [] as PlantedSecret[]])) as Record<Way, PlantedSecret[]>;
  // Over the ways in turn, shifted after each round, so that each way gets many sorts.
  for (const [at, secret] of secrets.entries()) {
    const way = ways[(at + Math.floor(at / ways.length)) % ways.length];
    if (way !== undefined) made[way].push(secret);
  }
  return made;
}

const textOf = (secrets: readonly PlantedSecret[]): string =>
  secrets.map(({ text }, at) => `Line ${at}:\n${text}\nand on.`).join("\n");

/** A scenario in which everything is said, called, answered and printed. JSON is YAML. */
function scenarioOf(of: Readonly<Record<Way, readonly PlantedSecret[]>>): string {
  const parts = of.parts.flatMap(({ text }) =>
    [...`${text}\n`].map((char) => ({ type: "part", delta: { text: char } })),
  );
  const steps = [
    ...of.said.map(({ text }) => ({ say: `I found ${text} there` })),
    { say: textOf(of.said) },
    ...of.thought.map(({ text }) => ({ think: `So ${text}` })),
    ...of.input.map(({ text }) => ({ tool: { name: "Bash", input: { command: `echo '${text}'` }, output: "ok" } })),
    ...of.output.map(({ text }) => ({ tool: { name: "Read", input: { file_path: "a" }, output: `1\t${text}` } })),
    ...of.error.map(({ text }) => ({
      tool: { name: "Bash", input: { command: "deploy" }, output: text, error: true },
    })),
    ...of.plain.map(({ text }) => ({ malformed: text })),
    ...parts.map((part) => ({ malformed: JSON.stringify(part) })),
    { shell: 'cat "$HOME/secrets.txt"; cat "$HOME/secrets.txt" >&2', allowFail: true },
    { shell: 'printenv >"$HOME/env.txt"; printf x >a.txt' },
    ...of.mail.map(({ text }) => ({
      ov: ["mail", "send", "--to", "operator", "--type", "status", "--subject", "Look", "--body", text],
    })),
    { ov: ["mail", "send", "--to", "operator", "--type", "status", "--subject", "All", "--body", textOf(of.mail)] },
    { shell: 'ov mail send --to operator --type status --subject Value --body "it is $NVM_AUTH_TOKEN here"' },
    { commit: textOf(of.commit) },
    { ov: ["done", "--summary", textOf(of.summary)], allowFail: true },
    { result: { text: textOf(of.result), error: false } },
  ];
  return JSON.stringify([{ do: steps }]);
}

function filesBelow(dir: string): string[] {
  return readdirSync(dir, { withFileTypes: true }).flatMap((entry) => {
    const path = join(dir, entry.name);
    return entry.isDirectory() ? filesBelow(path) : entry.isFile() ? [path] : [];
  });
}

/** Every file that we write: the state directory with the pages and the log of the database, and specs in the checkout. */
function ownFiles({ root }: TestProject): string[] {
  const specs = join(root, ".overstory", "specs");
  return [...filesBelow(statePath(root)), ...(existsSync(specs) ? filesBelow(specs) : [])];
}

/** What was printed in parts, put together. */
const joinedParts = (output: string): string =>
  output
    .split("\n")
    .filter((line) => line.startsWith('{"type":"part"'))
    .map((line) => (JSON.parse(line) as { delta: { text: string } }).delta.text)
    .join("");

const context = (text: string, value: string): string => {
  const at = text.indexOf(value);
  return JSON.stringify(text.slice(Math.max(0, at - 100), at + value.length + 40));
};

/** Where a secret is. A text in another form, with its line ends and quotes written out, counts as well. */
function leaks(project: TestProject, secrets: readonly PlantedSecret[]): string[] {
  return ownFiles(project).flatMap((path) => {
    const bytes = bytesOf(path);
    const text = `${bytes}\n${joinedParts(bytes)}`;
    return secrets
      .filter(({ value }) => text.includes(value))
      .map(({ sort, value }) => `${sort} in ${path}: ${context(text, value)}`);
  });
}

/** What programs wrote is kept compressed. */
function bytesOf(path: string): string {
  const bytes = readFileSync(path);
  const isCompressed = path.endsWith(".zst") && bytes.length > 0;
  return Buffer.from(isCompressed ? Bun.zstdDecompressSync(bytes) : bytes).toString("latin1");
}

const proxyPassword = "pr0xy-passw0rd-77";
const nvmToken = "nothing-tells-that-this-is-one";

const environment: readonly PlantedSecret[] = [
  { sort: "value of a variable that agents get", value: nvmToken, text: nvmToken },
  { sort: "password in a variable that agents get", value: proxyPassword, text: proxyPassword },
];

const planted = plantedSecrets(200);
const byWay = shares(planted);

async function play(config = ""): Promise<TestProject> {
  const project = await makeProject({
    config,
    scenario: scenarioOf(byWay),
    gates: ['cat "$HOME/gate.txt"; cat "$HOME/gate.txt" >&2; exit 1'],
    env: {
      NVM_AUTH_TOKEN: nvmToken,
      HTTPS_PROXY: `http://ann:${proxyPassword}@proxy.example.org:3128`,
      PAYMENTS_API_KEY: "this-one-is-for-no-agent",
      AWS_SECRET_ACCESS_KEY: "nor-is-this-one-for-any",
      NODE_OPTIONS: "--no-warnings",
      BUN_CONFIG_VERBOSE_FETCH: "0",
    },
  });
  writeFileSync(join(project.home, "secrets.txt"), textOf([...byWay.output, ...byWay.error]));
  writeFileSync(join(project.home, "gate.txt"), textOf(byWay.gate));
  await project.json("task", "create", "Do it", "--id", "T1", "--description", textOf(byWay.task));
  await project.json("spec", "write", "T1", "--body", textOf(byWay.spec));
  await project.json("sling", "T1", "--name", "b1");
  return project;
}

async function finish(project: TestProject): Promise<void> {
  await untilAgent(project, "b1", "between_turns", "completed/done", "completed/no_signal");
  for (const { text } of byWay.letter)
    await project.ov(
      "mail",
      "send",
      "--to",
      "b1",
      "--type",
      "question",
      "--subject",
      text.slice(0, 100),
      "--body",
      text,
    );
  for (const { text } of byWay.nudge) await project.ov("nudge", "b1", text);
  await project.settled();
  await project.json("stop", "b1");
  await project.json("release", "b1");
  await project.until("what b1 left was removed", async () => {
    return (await project.read((tx) => tx.agents.byName("b1")))?.cleanedAt !== null;
  });
  await nobodyLeft(project);
}

test("none of 200 secrets is in any file that we write, by whichever way it came", async () => {
  await using project = await play();
  await finish(project);
  expect(leaks(project, [...planted, ...environment])).toEqual([]);
  expect(ownFiles(project).filter((path) => path.endsWith("/stdout.ndjson"))).toEqual([]);
  expect(ownFiles(project).some((path) => path.endsWith("/stdout.ndjson.zst"))).toBe(true);
  const bodies = await project.read((tx) => tx.messages.list({ from: "b1" }));
  expect(bodies.map(({ body }) => body)).toContain("it is [REDACTED] here");
  const shown = [await project.ov("logs", "b1", "--json"), await project.ov("mail", "list", "--json")];
  for (const { out } of shown) {
    expect(out).toContain("[REDACTED]");
    for (const { value } of [...planted, ...environment]) expect(out).not.toContain(value);
  }
}, 180_000);

test("logging.redactSecrets false keeps everything as it came", async () => {
  await using project = await play("logging:\n  redactSecrets: false\n");
  await finish(project);
  for (const way of ways) expect({ way, found: leaks(project, byWay[way]).length > 0 }).toEqual({ way, found: true });
}, 180_000);

test("an agent gets the variables of the allow-list and no others", async () => {
  await using project = await play();
  await untilAgent(project, "b1", "between_turns", "completed/done", "completed/no_signal");
  const got = readFileSync(join(project.home, "env.txt"), "utf8");
  expect(got).toContain(`NVM_AUTH_TOKEN=${nvmToken}\n`);
  expect(got).not.toContain("PAYMENTS_API_KEY");
  expect(got).not.toContain("AWS_SECRET_ACCESS_KEY");
  expect(got).not.toMatch(/^(?:BUN_|NODE_OPTIONS|LD_PRELOAD)/m);
}, 180_000);
