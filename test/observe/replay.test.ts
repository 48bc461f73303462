import { expect, test } from "bun:test";
import { fillStore } from "../../testkit/mail-seed.ts";
import { ovBinary } from "../../testkit/ov.ts";
import { makeProject, type TestProject } from "../../testkit/project.ts";
import { activeRun } from "../../testkit/use-case.ts";

async function withEvents(): Promise<TestProject> {
  const project = await makeProject();
  await project.ov("status");
  await fillStore(project.root, async (tx) => {
    await tx.runs.insert(activeRun("run-1", 0));
    await tx.events.append(
      Array.from({ length: 9 }, (_, n) => ({
        runId: "run-1",
        agentName: "b1",
        source: "agent" as const,
        type: "progress",
        data: { text: `step ${n + 1}${n === 6 ? " needle \u001b[2J" : ""}` },
        createdAt: Date.now(),
      })),
    );
  });
  return project;
}

/** Runs a line on a terminal and types keys, each when the screen shows the key before; returns all that it showed. */
async function typeInto(project: TestProject, line: string, keys: readonly string[]) {
  const command = `stty cols 70 rows 20; ${line} echo "left with $?"; stty -a`;
  const child = Bun.spawn({
    cmd: ["script", "--quiet", "--return", "--command", command, "/dev/null"],
    cwd: project.root,
    env: { ...project.env, TERM: "xterm" },
    stdio: ["pipe", "pipe", "pipe"],
  });
  let shown = "";
  const out = (async () => {
    for await (const piece of child.stdout.pipeThrough(new TextDecoderStream())) shown += piece;
  })();
  let before = shown.length;
  for (const key of keys) {
    await project.until("the screen is drawn", async () => shown.includes(keyLine) && shown.length > before);
    before = shown.length;
    child.stdin.write(key);
    await child.stdin.flush();
  }
  const ended = await Promise.race([out.then(() => true), Bun.sleep(20_000).then(() => false)]);
  child.kill();
  return ended ? shown : "it did not end";
}

const ov = ovBinary();
/** The end of the first screen: from here on keys are read. */
const keyLine = "q quit";
const entered = "\u001b[?1049h";
const restored = "\u001b[?25h\u001b[?1049l";

test("replay walks by keys on a terminal, and gives it back as it was by q, by Ctrl-C and when it is ended", async () => {
  await using project = await withEvents();
  const quit = await typeInto(project, `${ov} replay --from 1 --limit 3 --no-color;`, [
    " ",
    " ",
    " ",
    "b",
    "/",
    "needle",
    "\r",
    "q",
  ]);
  expect(quit).toContain("number 3");
  expect(quit).toContain("text: step 4");
  expect(quit).toContain("needle \\u{1b}[2J");
  expect(quit).not.toContain("needle \u001b[2J");
  for (const [keys, code] of [
    [["q"], 0],
    [["\u0003"], 130],
  ] as const) {
    const out = await typeInto(project, `${ov} replay;`, keys);
    expect(out.indexOf(entered)).toBeGreaterThanOrEqual(0);
    expect(out.indexOf(restored)).toBeGreaterThan(out.indexOf(entered));
    expect(out).toContain(`left with ${code}`);
    // Typed letters are shown again, and lines end where they should.
    expect(out).toMatch(/[^-]icanon[\s\S]*[^-]echo\b/);
  }
  const pid = `${project.home}/pid`;
  const ended = `(sleep 2; kill -TERM $(cat ${pid})) & sh -c 'echo $$ > ${pid}; exec ${ov} replay';`;
  const killed = await typeInto(project, ended, []);
  expect(killed).toContain("left with 0");
  expect(killed.lastIndexOf(restored)).toBeGreaterThan(killed.indexOf(entered));
}, 120_000);

test("without a terminal replay is a list, from any event on, of the current run unless something else is named", async () => {
  await using project = await withEvents();
  const numbers = async (...words: string[]) =>
    ((await project.json("replay", ...words)).events as { seq: number }[]).map(({ seq }) => seq);
  const all = await numbers();
  expect(all).toHaveLength(9);
  const [, , third = 0, fourth = 0] = all;
  expect(await numbers("--from", String(third), "--limit", "2")).toEqual([third, fourth]);
  expect(await numbers("--limit", "2")).toEqual(all.slice(-2));
  expect(await numbers("--run", "run-1", "--since", "1h", "--until", "0s")).toEqual(all);
  expect(await numbers("--before", String(third))).toEqual(all.slice(0, 2));
  const { out } = await project.ov("replay");
  expect(out.trimEnd().split("\n")).toHaveLength(9);
  expect(out).not.toContain("\u001b");
  expect((await project.ov("replay", "--from", "999999")).code).toBe(7);
  expect((await project.ov("replay", "--agent", "nobody")).code).toBe(7);
}, 60_000);
