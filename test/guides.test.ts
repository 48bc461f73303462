import { expect, test } from "bun:test";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { brokenLinesIn } from "../testkit/command-lines.ts";
import { type Person, personWith, typeIn } from "../testkit/typing.ts";

/**
 * Types every page of docs/guides as it stands. How a page is read:
 *
 *   ```sh          the block is typed into one shell, in the reader's repository; it must end with exit code 0
 *   ```sh exit=5   it must end with this exit code
 *   ```text        right behind it: all that the terminal shows
 *
 * In what is shown, `…` stands for any text of a line, or alone on its line for any lines. An id or a commit stands for the
 * one that is really there, and means the same one wherever the page names it again, in commands too. Times and durations
 * may differ, and lines that say how far the engine is are not compared. A block of commands that only look is typed again
 * until it shows what the page shows, as a reader would.
 */
const repository = resolve(import.meta.dir, "..");
const folder = join(repository, "docs", "guides");
const pages = readdirSync(folder).filter((name) => name.endsWith(".md"));
const textOf = (page: string): string => readFileSync(join(folder, page), "utf8");

/** The page without its blocks. */
const proseOf = (page: string): string => textOf(page).replaceAll(/^```.*?^```$/gms, "");

interface Step {
  readonly place: string;
  readonly commands: string;
  readonly exit: number;
  readonly shown: string | undefined;
}

function stepsOf(page: string): Step[] {
  const text = textOf(page);
  return [...text.matchAll(/^```sh(?: exit=(\d+))?\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?/gms)].map((found) => ({
    place: `docs/guides/${page}:${text.slice(0, found.index).split("\n").length}`,
    commands: found[2] ?? "",
    exit: Number(found[1] ?? 0),
    shown: found[3],
  }));
}

/** Commands that change nothing, however often they are typed. `ov inbox` leaves mail unread when its output is no terminal. */
const looking =
  /^(?:ov (?:status|inbox|logs|diff|mail (?:list|why)|merge (?:log|list|diff)|gate (?:list|log|show)|run criteria list|task show)|ls|cat|git log)\b/;
const onlyLooks = (commands: string): boolean =>
  commands
    .trim()
    .split("\n")
    .every((line) => looking.test(line));

/** What the page's own ids stand for in this repository. */
type Known = Map<string, string>;

const varying =
  /…|\b(?:msg|run|op|receipt|gate|turn)-[a-z0-9]{12}\b|\b(?=[0-9a-f]*\d)[0-9a-f]{10}(?:[0-9a-f]{30})?\b|\b\d\d:\d\d\b|\b\d+(?:\.\d+)?m?s\b/g;

/** Whether this is shown, and which ids it has. */
function reads(shown: string, page: string, known: Known): Known | undefined {
  const groups: string[] = [];
  const lines = page.split("\n").map((line) => {
    if (line === "…") return "(?:.*\n)*?";
    return `${pieces(line, known, groups)}[ ]*\n`;
  });
  const found = new RegExp(`^${lines.slice(0, -1).join("")}$`).exec(shown.replace(/\n*$/, "\n"));
  if (found === null) return undefined;
  return new Map([...known, ...groups.map((id, at): [string, string] => [id, found[at + 1] ?? ""])]);
}

function pieces(line: string, known: Known, groups: string[]): string {
  let from = 0;
  let pattern = "";
  for (const { 0: word, index } of line.matchAll(varying)) {
    pattern += RegExp.escape(line.slice(from, index)) + pieceFor(word, known, groups);
    from = index + word.length;
  }
  return pattern + RegExp.escape(line.slice(from));
}

function pieceFor(word: string, known: Known, groups: string[]): string {
  if (word === "…") return ".*";
  if (/:/.test(word)) return "\\d\\d:\\d\\d";
  if (/^\d+(?:\.\d+)?m?s$/.test(word)) return "[\\d.]+(?:ms|s|m)";
  const real = known.get(word);
  if (real !== undefined) return RegExp.escape(real);
  if (groups.includes(word)) return `\\${groups.indexOf(word) + 1}`;
  groups.push(word);
  const prefix = /^[a-z]+-/.exec(word)?.[0];
  return prefix === undefined ? `([0-9a-f]{${word.length}})` : `(${prefix}[a-z0-9]{12})`;
}

const withReal = (commands: string, known: Known): string =>
  commands.replaceAll(varying, (word) => known.get(word) ?? word);

/** Lines that say how far the engine is. Which of them a person sees depends on the speed of the machine. */
const progress = /^(?:(?:[\d.]+(?:ms|s|m|h) ?)+: |running gate \d).*\n/gm;

/**
 * Mail is on record the moment it is sent, and the call that sent it when the output of the program is next read: on a quick
 * machine it stands above its own call. The pages show the usual order.
 */
const mailBelowItsCall = (shown: string): string =>
  shown.replace(/^(< mail .*\n)((?:> .*\n)+)(?=== turn ended)/gm, "$2$1");

const patienceMs = 50_000;

type Typist = Pick<Person, "type"> & { readonly root: string };

async function follow({ root, type }: Typist, page: string): Promise<void> {
  let known: Known = new Map();
  for (const step of stepsOf(page)) {
    const deadline = performance.now() + patienceMs;
    for (;;) {
      const { code, shown } = await type(withReal(step.commands, known));
      const seen = mailBelowItsCall(shown.replaceAll(root, "/home/you/repo").replaceAll(progress, ""));
      const learned = step.shown === undefined ? known : reads(seen, step.shown, known);
      if (code === step.exit && learned !== undefined) {
        known = learned;
        break;
      }
      if (!onlyLooks(step.commands) || performance.now() > deadline)
        throw new Error(`${step.place}: exit code ${code}, and the terminal showed\n${seen}`);
      await Bun.sleep(100);
    }
  }
}

const files = {
  "README.md": "# Sample\n",
  "package.json": '{"scripts":{"test":"sh test.sh"}}\n',
  "test.sh": "test ! -e broken.txt\n",
};

const builds = (agent: string, file: string, text: string): string => `
- when: { agent: ${agent} }
  do:
    - edit: { file: ${file}, write: "${text}\\n" }
    - commit: Add ${file}
    - ov: [done, --summary, "${file} says ${text}"]
`;

const question = '[mail, send, --to, operator, --type, question, --expects-reply, --subject, "Which file?"';

/** How things stand when a reader comes to a page: what the agents will do, and what was typed before. */
const readers: Readonly<Record<string, { readonly scenario: string; readonly before: readonly string[] }>> = {
  "first-run.md": {
    scenario: `
- when: { capability: coordinator, turn: 1 }
  do:
    - ov: [run, criteria, add, There is a greeting]
    - ov: [task, create, Add a greeting, --id, T1, --criteria, 1]
    - ov: [sling, T1, --name, b1]
- when: { capability: coordinator, input: worker_done }
  do:
    - ov: [mail, send, --to, operator, --type, merge_ready, --subject, ready, --body, looked at, --payload, '{"branch":"overstory/b1/T1"}']
- when: { capability: coordinator }
  do:
    - shell: ov run criteria prove 1 --file greeting.txt && ov run complete || true
- when: { capability: builder }
  do:
    - edit: { file: greeting.txt, write: "hello\\n" }
    - commit: Add a greeting
    - ov: [done, --summary, greeting.txt says hello]
`,
    before: [],
  },
  "objective.md": {
    scenario: `
- when: { capability: coordinator, turn: 1 }
  do:
    - ov: [run, criteria, add, There is a greeting, The changelog names it]
    - ov: [task, create, Add a greeting, --id, T1, --criteria, "1"]
    - ov: [sling, T1, --name, b1]
- when: { capability: coordinator, input: worker_done }
  do:
    - ov: [mail, send, --to, operator, --type, merge_ready, --subject, ready, --body, looked at, --payload, '{"branch":"overstory/b1/T1"}']
- when: { capability: coordinator }
  do:
    - shell: ov run criteria prove 1 --file greeting.txt && ov run complete || true
${builds("b1", "greeting.txt", "hello")}`,
    before: ["ov init"],
  },
  "gates.md": {
    scenario: `
- when: { agent: b1 }
  do:
    - edit: { file: greeting.txt, write: "helo\\n" }
    - commit: Add a greeting
    - { ov: [done, --summary, greeting.txt says hello], expect: 5 }
    - edit: { file: greeting.txt, write: "hello\\n" }
    - commit: Spell it right
    - ov: [done, --summary, greeting.txt says hello]
`,
    before: ["ov init"],
  },
  "stuck-agent.md": {
    scenario: `
- when: { agent: b1, turn: 1 }
  do:
    - ov: [mail, send, --to, operator, --type, decision_gate, --subject, "Which language?", --body, "English or French", --payload, '{"options":["English","French"]}']
- when: { agent: b2, attempt: 1 }
  do:
    - say: I will write the farewell.
    - edit: { file: farewell.txt, write: "goodby\\n" }
    - hang: true
- when: { agent: b3, attempt: 1 }
  do:
    - fail: login
${builds("b1", "greeting.txt", "bonjour")}${builds("b2", "farewell.txt", "goodbye")}${builds("b3", "thanks.txt", "thanks")}`,
    before: [
      "ov init",
      ...["b1", "b2", "b3"].map(
        (name, at) => `ov task create "Task ${at + 1}" --id T${at + 1}; ov sling T${at + 1} --name ${name}`,
      ),
    ],
  },
  "runtime-file.md": { scenario: "[]", before: ["ov init"] },
  "take-back.md": {
    scenario: builds("b1", "greeting.txt", "hello") + builds("b2", "farewell.txt", "goodbye"),
    before: [
      "ov init",
      'ov task create "Add a greeting" --id T1; ov task create "Add a farewell" --id T2',
      "ov sling T1 --name b1 --wait=done; ov sling T2 --name b2 --wait=done",
      "ov merge --branch overstory/b1/T1; ov merge --branch overstory/b2/T2; ov merge promote",
    ],
  },
  "mail.md": {
    scenario: `
- when: { agent: b1, turn: 1 }
  do:
    - ov: ${question}, --body, "Where do greetings go?"]
- do:
    - edit: { file: greeting.txt, write: "hello\\n" }
    - commit: Add a greeting
    - ov: ${question}, --body, "Where do farewells go?"]
`,
    before: ["ov init", 'ov task create "Add a greeting" --id T1; ov sling T1 --name b1'],
  },
};

for (const [page, { scenario, before }] of Object.entries(readers)) {
  test(`docs/guides/${page}, typed as it stands, shows what it says`, async () => {
    expect(stepsOf(page).filter(({ shown }) => shown !== undefined)).not.toEqual([]);
    await using person = await personWith({ scenario, files });
    for (const commands of before) expect(await person.type(commands)).toMatchObject({ code: 0 });
    await follow({ root: person.project.root, type: person.type }, page);
  }, 180_000);
}

const runtimePage = "add-a-runtime.md";

test(`docs/guides/${runtimePage}, followed in a copy of this repository, adds a runtime that passes the suite`, async () => {
  using copy = copyOfSources();
  const written = [...textOf(runtimePage).matchAll(/^`([^`]+)`:\n\n```ts\n(.*?)^```$/gms)];
  expect(written.map(([, path]) => path)).toEqual(
    ["runtime.ts", "conformance.test.ts"].map((name) => `src/runtimes/parrot/${name}`),
  );
  for (const [, path = "", code = ""] of written) {
    mkdirSync(dirname(join(copy.root, path)), { recursive: true });
    writeFileSync(join(copy.root, path), code);
  }
  const env = { ...process.env, NO_COLOR: "1" };
  await follow({ root: copy.root, type: (command) => typeIn(copy.root, env, command) }, runtimePage);
}, 180_000);

/** What the compiler and a test of a runtime need of this repository. */
function copyOfSources(): Disposable & { readonly root: string } {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "ov-guide-")));
  for (const part of ["src", "testkit", "scripts", "agents", "package.json"])
    cpSync(join(repository, part), join(root, part), { recursive: true });
  symlinkSync(join(repository, "node_modules"), join(root, "node_modules"));
  // Only the runtimes, and what they import, are compiled: the rest is compiled by every check of this repository.
  const { compilerOptions } = JSON.parse(readFileSync(join(repository, "tsconfig.json"), "utf8"));
  writeFileSync(
    join(root, "tsconfig.json"),
    JSON.stringify({ compilerOptions, include: ["src/runtimes", "src/**/*.d.ts"] }),
  );
  return { root, [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }) };
}

test("every file that a guide names exists, and has the names that stand beside it", () => {
  const prose = pages.map(proseOf).join("\n");
  const paths = [...prose.matchAll(/`((?:src|test|testkit|docs)\/[^`<]+)`/g)].map(([, path = ""]) => path);
  expect(paths).not.toEqual([]);
  expect(
    paths.filter((path) => !path.startsWith("src/runtimes/parrot/") && !existsSync(join(repository, path))),
  ).toEqual([]);
  const names = [...prose.matchAll(/`(\w+)`(?: and [^`]+ `(\w+)`)? (?:of|in) `((?:src|testkit)\/[^`]+\.ts)`/g)];
  expect(names.flatMap(([, one, other]) => [one, other ?? []].flat())).toEqual([
    "runtimeContract",
    "runtimeNames",
    "runtimeChoices",
    "runtimes",
  ]);
  for (const [, one, other = one, path = ""] of names) {
    const code = readFileSync(join(repository, path), "utf8");
    for (const name of [one, other]) expect(code).toMatch(new RegExp(`(?:const|function) ${name}\\b`));
  }
});

test("every command that a guide names in its sentences exists", () => {
  // A sentence may name a command alone, without what it must be given.
  const known = ["missing-argument", "missing-flag"];
  const named = pages.flatMap((page) => [...proseOf(page).matchAll(/`(ov [^`\n]+)`/g)].map(([, line = ""]) => line));
  expect(named).not.toEqual([]);
  expect(named.flatMap(brokenLinesIn).filter(({ problem }) => !known.includes(problem))).toEqual([]);
});

test("every setting that a guide names exists", () => {
  const keys = readFileSync(join(repository, "docs", "configuration.md"), "utf8");
  const named = pages.flatMap((page) => [...proseOf(page).matchAll(/`((?:merge|watchdog|project|budgets)\.\w+)`/g)]);
  expect(named).not.toEqual([]);
  expect(named.map(([, key]) => key).filter((key) => !keys.includes(`| \`${key}\` |`))).toEqual([]);
});

test("the guides are found from the README, and every link in them leads somewhere", () => {
  const readme = readFileSync(join(repository, "README.md"), "utf8");
  expect(readme).toContain("](docs/guides/README.md)");
  const index = textOf("README.md");
  expect(pages.filter((page) => page !== "README.md" && !index.includes(`](${page})`))).toEqual([]);
  const links = pages.flatMap((page) => [...textOf(page).matchAll(/\]\(([^)#]+)\)/g)].map(([, link = ""]) => link));
  expect(links.filter((link) => !existsSync(join(folder, link)))).toEqual([]);
});
