import { expect, test } from "bun:test";
import { untilTurns } from "../../testkit/lifecycle.ts";
import { ovBinary } from "../../testkit/ov.ts";
import { makeProject, type TestProject } from "../../testkit/project.ts";

/** Runs the command into a pipe that nobody reads: its exit code, and what reached stderr. */
async function unread(project: TestProject, line: string) {
  // The reader has ended before the command starts.
  const script = `exec 3> >(exit 0); wait $!; ${ovBinary()} ${line} >&3; echo $?`;
  const child = Bun.spawn({
    cmd: ["bash", "-c", script],
    cwd: project.root,
    env: project.env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [out, err] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  await child.exited;
  return { code: Number(out.trim()), err };
}

const lines = [
  ...[
    "--version",
    "-v",
    "--help",
    "help --json",
    "status",
    "status --json",
    "inbox --quiet",
    "mail list",
    "mail check --quiet",
  ],
  ...["task list", "merge log", "run list", "config list", "engine status", "prime", "budget", "completions bash"],
];

test("a command whose reader has gone ends quietly and says what became of the command", async () => {
  await using project = await makeProject();
  await project.json("mail", "send", "--to", "operator", "--subject", "Big", "--body", "x ".repeat(40_000));
  for (const line of lines) expect([line, await unread(project, line)]).toEqual([line, { code: 0, err: "" }]);
  expect(await unread(project, "bogus --json")).toEqual({ code: 2, err: "" });
  // Mail that nobody could read is not counted as read.
  const { messages } = await project.json("mail", "list", "--to", "operator");
  expect(messages).toMatchObject([{ subject: "Big", read: false }]);
}, 120_000);

test("following a coordinator ends when its reader leaves", async () => {
  const scenario = "- do:\n    - say: first\n    - repeat: { times: 200, do: [{ say: more }, { sleep: 50 }] }\n";
  await using project = await makeProject({ scenario });
  await project.json("coordinator", "start", "--objective", "Talk");
  await project.until("it said something", async () => {
    return String((await project.json("coordinator", "output")).content).includes("more");
  });
  const command = `${ovBinary()} coordinator output --follow --interval 100 | head -n 3`;
  const child = Bun.spawn({
    cmd: ["bash", "-c", command],
    cwd: project.root,
    env: project.env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [out, err] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  await child.exited;
  expect(out.trimEnd().split("\n")).toHaveLength(3);
  expect(err).not.toContain("more");
  await untilTurns(project, "coordinator", 1);
}, 120_000);
