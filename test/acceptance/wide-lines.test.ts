import { expect, test } from "bun:test";
import { ovBinary } from "../../testkit/ov.ts";
import { makeProject, type TestProject } from "../../testkit/project.ts";

const words = Array.from({ length: 60 }, (_, n) => `word${n}`).join(" ");

/** What a terminal of so many columns is given. */
async function onTerminal(project: TestProject, line: string, columns = 60): Promise<readonly string[]> {
  const command = `stty cols ${columns}; exec ${ovBinary()} ${line} --no-color`;
  const child = Bun.spawn({
    cmd: ["script", "--quiet", "--return", "--command", command, "/dev/null"],
    cwd: project.root,
    env: { ...project.env, TERM: "xterm" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const out = await new Response(child.stdout).text();
  expect(await child.exited).toBe(0);
  return out.trimEnd().split(/\r?\n/);
}

test("mail, inbox and status break long lines at the width of the terminal, and give them whole to a pipe", async () => {
  await using project = await makeProject();
  await project.json("mail", "send", "--to", "operator", "--subject", "Long", "--body", words);
  for (const line of ["inbox --peek", "mail list", "mail check", "status", "advise"]) {
    const lines = await onTerminal(project, line);
    expect([line, lines.filter((each) => each.length > 60)]).toEqual([line, []]);
  }
  expect((await project.ov("mail", "list")).out).toContain(words);
}, 60_000);

test("a line break in a one-line place is a mark, not an escape", async () => {
  await using project = await makeProject();
  await project.json("task", "create", "one\ntwo", "--id", "T1");
  await project.json("coordinator", "start", "--objective", "first line\nsecond line");
  const { out } = await project.ov("status");
  expect(out).toContain("first line⏎second line");
  expect((await project.ov("task", "list")).out).not.toContain("u{a}");
}, 60_000);

test("lists and pages about the fleet fit into 80 columns, with long names and paths", async () => {
  const long = "a-task-named-as-people-do";
  await using project = await makeProject({
    gates: ["true"],
    config: "budgets: { agent: { usd: 2 }, run: { tokens: 900000 } }\n",
  });
  await project.json("task", "create", words.slice(0, 300), "--id", long);
  await project.json("task", "create", "waits for it", "--id", "T2");
  await project.json("task", "dep", "add", "T2", long);
  await project.git("checkout", "--quiet", "-b", `feature/${long}`, "main");
  await project.git("commit", "--quiet", "--allow-empty", "-m", words.slice(0, 200));
  await Bun.write(`${project.root}/${long}.txt`, "x\n");
  await project.git("add", `${long}.txt`);
  await project.git("commit", "--quiet", "-m", "work");
  await project.git("checkout", "--quiet", "main");
  await project.json("merge", "--branch", `feature/${long}`);
  await project.json("sling", long, "--name", "an-agent-with-a-long-name");
  const pages = ["status", "run show", "prime", "agents discover", "merge list", "merge log", "task list", "budget"];
  for (const line of [...pages, "prices show"]) {
    const lines = await onTerminal(project, line, 80);
    expect([line, lines.length > 0, lines.filter((each) => each.length > 80)]).toEqual([line, true, []]);
  }
}, 60_000);
