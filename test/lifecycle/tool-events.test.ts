import { expect, test } from "bun:test";
import { isKnownKind } from "../../src/domain/event/event-kinds.ts";
import { randomIds } from "../../src/host/ids.ts";
import {
  eventsOf,
  letGo,
  pidOf,
  ranTurns,
  slingNew,
  untilAgent,
  untilFile,
  untilTurns,
} from "../../testkit/lifecycle.ts";
import { makeProject, type TestProject } from "../../testkit/project.ts";
import { rawDatabase } from "../../testkit/raw-database.ts";

const long = "x".repeat(6_000);
const waiting = `touch "$HOME/ready"; until test -e "$HOME/go"; do sleep 0.05; done`;

const scenario = `
- do:
    - think: A long file is needed.
    - edit: { file: work.txt, write: "${long}" }
    - shell: '${waiting}'
    - shell: "echo no >&2; exit 3"
      allowFail: true
    - commit: work
    - ov: [mail, send, --to, operator, --type, worker_done, --subject, Done, --body, done]
`;

const dataOf = async (project: TestProject, type: string): Promise<Record<string, unknown>[]> =>
  (await eventsOf(project, type)).map(({ data }) => JSON.parse(data ?? "null"));

test("a call has its tool, id, summary and duration on record, also when its supervisor was replaced meanwhile", async () => {
  await using project = await makeProject({ scenario });
  await slingNew(project, "B1");
  await untilFile(project, "ready");
  const starts = async () => (await dataOf(project, "tool_start")).filter(({ summary }) => summary === waiting);
  await project.until("the start of the call was stored", async () => (await starts()).length === 1);
  process.kill(await pidOf(project, "b1", "supervisor"), "SIGKILL");
  await project.until("another one had the turn", async () => (await ranTurns(project, "b1"))[0]?.fence === 2);
  await letGo(project);
  await untilAgent(project, "b1", "completed/done");
  await project.settled();

  const [start] = await starts();
  const input = { command: waiting };
  const inputDigest = randomIds.digest(JSON.stringify(start?.input));
  expect(start).toEqual({ id: expect.any(String), tool: "Bash", summary: waiting, input: start?.input, inputDigest });
  expect(start?.input).toMatchObject(input);
  const ends = await dataOf(project, "tool_end");
  const end = ends.find(({ id }) => id === start?.id);
  const durationMs = expect.any(Number);
  expect(end).toEqual({ id: start?.id, tool: "Bash", summary: waiting, durationMs, failed: false });
  expect(end?.durationMs).toBeGreaterThan(0);
  expect(ends.find(({ failed }) => failed === true)).toMatchObject({
    tool: "Bash",
    summary: "echo no >&2; exit 3",
    durationMs,
    said: expect.stringContaining("no"),
  });

  const written = (await dataOf(project, "tool_start")).find(({ tool }) => tool === "Write");
  expect(written?.summary).toEndWith("work.txt");
  expect(JSON.stringify(written?.input).length).toBeLessThan(2_000);
  expect(await dataOf(project, "thinking")).toEqual([{ text: "A long file is needed." }]);
  const kinds = (await project.read((tx) => tx.events.after(0, 10_000))).map(({ type }) => type);
  expect(kinds.filter((kind) => !isKnownKind(kind))).toEqual([]);
}, 90_000);

test("what a newer version put on record is shown, and stops no command", async () => {
  await using project = await makeProject({ scenario: "- do:\n    - say: hello\n" });
  await slingNew(project, "B1");
  await untilTurns(project, "b1", 1);
  const db = rawDatabase(project, "write");
  db.run(
    `INSERT INTO events (seq, agent_name, source, level, type, data, created_at)
     SELECT MAX(seq) + 1000, 'b1', 'planner', 'notice', 'plan_bent', '{"by":2}', 1 FROM events`,
  );
  db.close();
  expect((await project.ov("logs", "b1")).out).toContain('? plan_bent: {"by":2}');
  const { lines } = await project.json("logs", "b1");
  expect(lines).toContainEqual(expect.objectContaining({ type: "plan_bent", text: '? plan_bent: {"by":2}' }));
  for (const command of [["status"], ["inbox"]]) expect((await project.ov(...command)).code).toBe(0);
}, 60_000);
