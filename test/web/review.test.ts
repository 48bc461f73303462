import { expect, test } from "bun:test";
import type { ReplyAt, RouteName } from "../../src/contract/http/routes.ts";
import { slingNew, untilAgent } from "../../testkit/lifecycle.ts";
import { makeProject } from "../../testkit/project.ts";
import { serveWeb, type WebClient } from "../../testkit/web.ts";

const scenario = `
- when: { agent: b1, turn: 1 }
  do:
    - edit: { file: clock.ts, write: "export const now = Date.now();\\n" }
    - edit: { file: package-lock.json, write: "{}\\n" }
    - commit: "Add the clock"
    - ov: [done, --summary, The clock is there]
- when: { agent: b1 }
  do:
    - edit: { file: clock.ts, write: "export const now = clock();\\n" }
    - commit: "Ask the clock"
    - ov: [done, --summary, It asks the clock now]
`;

/** Reads an address as its route answers it. */
const reader =
  (web: WebClient) =>
  async <Route extends RouteName>(_route: Route, path: string): Promise<ReplyAt<Route>> =>
    (await web.get(path)).json() as Promise<ReplyAt<Route>>;

test("work that was handed in is listed, read file by file, sent back with findings, and accepted as it was looked at", async () => {
  await using project = await makeProject({ scenario });
  const web = await serveWeb(project);
  const get = reader(web);
  const live = await web.live();
  live.send({ op: "sub", id: "r", topic: "reviews" });
  await slingNew(project, "B1");
  await untilAgent(project, "b1", "completed/done");
  await live.until(({ op, id, items }) => op === "delta" && id === "r" && JSON.stringify(items).includes('"b1"'));
  live.close();
  const listed = (await get("GET /api/reviews", "/api/reviews")).items;
  expect(listed).toMatchObject([
    { name: "b1", taskId: "B1", commits: 1, needsOperator: true, merge: { awaitingApproval: true }, lastReview: null },
  ]);
  const head = listed[0]?.head ?? "";

  const diff = await get("GET /api/agents/:name/diff", "/api/agents/b1/diff");
  expect(diff).toMatchObject({ head, uncommitted: false, added: 2, removed: 0 });
  expect(diff.files).toMatchObject([
    {
      path: "clock.ts",
      status: "added",
      closed: null,
      hunks: [{ newStart: 1, lines: ["+export const now = Date.now();"] }],
    },
    { path: "package-lock.json", closed: "generated", risks: ["generated"], hunks: [] },
  ]);
  const opened = await get("GET /api/agents/:name/diff", "/api/agents/b1/diff?file=package-lock.json&context=100");
  expect(opened.files).toMatchObject([{ path: "package-lock.json", closed: null, hunks: [{ lines: ["+{}"] }] }]);
  expect((await web.get("/api/agents/b1/diff?file=none.ts")).status).toBe(400);
  expect((await web.get("/api/agents/b1/diff?since=none")).status).toBe(400);

  const shown = await get("GET /api/reviews/:name", "/api/reviews/b1");
  expect(shown).toMatchObject({ ready: true, goesTo: { name: "b1", generation: 2 }, reviews: [] });
  expect(shown.summary).toContain("The clock is there");

  expect((await web.send("POST", "/api/reviews/b1", { verdict: "needs_changes", commit: head })).status).toBe(400);
  const findings = [{ file: "clock.ts", line: 1, severity: "error", text: "Ask the clock <b>of the store</b>" }];
  const sent = await web.send("POST", "/api/reviews/b1", { verdict: "needs_changes", findings, commit: head });
  expect([sent.status, await sent.json()]).toMatchObject([200, { recipients: ["b1"], woken: ["b1"] }]);
  const [mail] = await project.read((tx) => tx.messages.list({ type: "review" }));
  expect(JSON.parse(mail?.payload ?? "")).toMatchObject({ verdict: "needs_changes", commit: head, findings });
  expect(mail?.body).toBe("1 finding.\n\n- clock.ts:1: error: Ask the clock <b>of the store</b>");

  await project.until("b1 was started again and is done", async () => {
    const [one] = (await get("GET /api/reviews", "/api/reviews")).items;
    return one !== undefined && one.head !== head;
  });
  const moved = await get("GET /api/reviews/:name", "/api/reviews/b1");
  const since = await get("GET /api/agents/:name/diff", `/api/agents/b1/diff?since=${head}`);
  expect(since.files).toMatchObject([
    { path: "clock.ts", hunks: [{ lines: ["-export const now = Date.now();", "+export const now = clock();"] }] },
  ]);
  expect(moved).toMatchObject({ lastReview: { by: "operator", verdict: "needs_changes", findings } });

  const stale = await web.send("POST", "/api/reviews/b1/accept", { head });
  expect([stale.status, JSON.stringify(await stale.json())]).toEqual([
    400,
    expect.stringContaining("is no longer the newest commit"),
  ]);
  const accepted = await web.send("POST", "/api/reviews/b1/accept", { head: moved.head });
  const { entry } = (await accepted.json()) as ReplyAt<"POST /api/reviews/:name/accept">;
  expect([accepted.status, entry]).toMatchObject([200, { branch: "overstory/b1/B1", headCommit: moved.head }]);
  const landed = async () => (await get("GET /api/merge/:of", `/api/merge/${entry.id}`)).entry.status;
  await project.until("it has landed", async () => (await landed()) === "merged");
  expect((await get("GET /api/reviews", "/api/reviews")).items).toEqual([]);
  expect((await get("GET /api/merge/:of/diff", `/api/merge/${entry.id}/diff`)).files).toMatchObject([
    { path: "clock.ts" },
    { path: "package-lock.json" },
  ]);
});

test("the turns of every generation are listed, and what the program wrote is read part by part, with nothing hidden in it", async () => {
  const words = `
- when: { turn: 1 }
  do:
    - say: "begin \\u202e turned"
    - flood: { events: 1000, bytes: 200 }
- do:
    - say: again
`;
  await using project = await makeProject({ scenario: words });
  const web = await serveWeb(project);
  await slingNew(project, "B1");
  await project.settled();
  const get = reader(web);
  const [first] = (await get("GET /api/agents/:name/turns", "/api/agents/b1/turns")).items;
  expect(first).toMatchObject({ generation: 1 });
  const parts: string[] = [];
  let before: number | null = null;
  do {
    const given: string = before === null ? "" : `?before=${before}`;
    const part = await get("GET /api/turns/:turn/output", `/api/turns/${first?.turns[0]?.id}/output${given}`);
    expect(part).toMatchObject({ agentName: "b1" });
    parts.unshift(...part.lines);
    before = part.older;
  } while (before !== null);
  // Every line is there once, and whole.
  const texts = parts.map((line) => JSON.stringify(JSON.parse(line.replaceAll("\\u{202e}", "(turned)"))));
  expect(texts.length).toBeGreaterThan(1000);
  expect(texts.join("\n")).toContain("begin (turned) turned");
  expect((await web.get("/api/turns/none/output")).status).toBe(400);
});
