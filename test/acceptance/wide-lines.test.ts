import { expect, test } from "bun:test";
import { ovBinary } from "../../testkit/ov.ts";
import { makeProject, type TestProject } from "../../testkit/project.ts";

const words = Array.from({ length: 60 }, (_, n) => `word${n}`).join(" ");

/** What a terminal of 60 columns is given. */
async function onTerminal(project: TestProject, line: string): Promise<readonly string[]> {
  const command = `stty cols 60; exec ${ovBinary()} ${line} --no-color`;
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
