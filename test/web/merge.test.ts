import { expect, test } from "bun:test";
import { join } from "node:path";
import { letGo } from "../../testkit/lifecycle.ts";
import { ovBinary } from "../../testkit/ov.ts";
import { makeProject, type TestProject } from "../../testkit/project.ts";
import { serveWeb, type WebClient } from "../../testkit/web.ts";

const gate = String.raw`printf '\033[32mbegun\033[0m\n'; until [ -e "$HOME/go" ]; do sleep 0.05; done; echo ended`;

/** A branch from main whose only commit writes this file. */
async function branch(project: TestProject, name: string, file: string, text: string): Promise<void> {
  await project.git("checkout", "--quiet", "-b", name, "main");
  await Bun.write(join(project.root, file), text);
  await project.git("commit", "--quiet", "-am", `work of ${name}`);
  await project.git("checkout", "--quiet", "main");
}

test("a paused queue lands nothing, whatever becomes of the engine, until it is resumed", async () => {
  await using project = await makeProject({ files: { "a.txt": "one\n" } });
  await branch(project, "a", "a.txt", "two\n");
  const web = await serveWeb(project);
  expect(await (await web.send("POST", "/api/merge/pause", { reason: "release day" })).json()).toMatchObject({
    paused: { by: "operator", reason: "release day" },
    changed: true,
  });
  const { id } = await project.json("merge", "add", "a");
  // It waits for nothing but the pause, so a command that waits for the landing says so and ends.
  const asked = await project.ov("merge", "--branch", "a");
  expect(asked.out + asked.err).toContain("the queue is paused");
  await project.ov("engine", "stop");
  await project.ov("engine", "start");
  const status = async () => (await project.read((tx) => tx.merges.get(Number(id))))?.status;
  await project.until("it serves again", async () =>
    web.get("/api/merge/state").then(
      async (reply) => reply.ok && ((await reply.json()) as { paused: unknown }).paused !== null,
      () => false,
    ),
  );
  expect(await status()).toBe("pending");
  expect((await web.send("POST", "/api/merge/resume")).status).toBe(200);
  await project.until("a had landed", async () => (await status()) === "merged");
}, 60_000);

test("the commands that the page shows settle a conflict by hand and hand the branch back", async () => {
  await using project = await makeProject({ files: { "a.txt": "one\n" } });
  await branch(project, "a", "a.txt", "of a\n");
  await branch(project, "b", "a.txt", "of b\n");
  const web = await serveWeb(project);
  await project.json("merge", "--branch", "a");
  await project.ov("merge", "--branch", "b");
  const [entry] = (await project.read((tx) => tx.merges.list({ branch: "b" }))).slice(-1);
  expect(entry?.status).toBe("conflict");
  const { byHand } = (await read(web, `/api/merge/${entry?.id}/conflicts`)) as {
    byHand: { steps: { command: string }[] };
  };
  const commands = byHand.steps.map(({ command }) => command.replace(/^ov /, `${ovBinary()} `));
  const merge = commands.findIndex((command) => command.startsWith("git merge"));
  const typed = [
    ...commands.slice(0, merge),
    `${commands[merge]} || printf 'of both\\n' > a.txt`,
    ...commands.slice(merge + 1),
  ].join("\n");
  const shell = Bun.spawn(["bash", "-ec", typed], { cwd: project.root, env: project.env, stderr: "pipe" });
  expect([await shell.exited, await new Response(shell.stderr).text()]).toEqual([0, expect.any(String)]);
  await project.ov("merge", "--branch", "b");
  const landed = (await project.read((tx) => tx.merges.list({ branch: "b" }))).at(-1);
  expect(landed).toMatchObject({ status: "merged" });
  expect(await project.git("show", `${landed?.resultCommit}:a.txt`)).toBe("of both\n");
}, 60_000);

interface Sides {
  readonly outlook: string;
  readonly onto: string;
  readonly head: string;
  readonly files: readonly {
    path: string;
    parts: readonly ({ lines: string[] } | { hunk: number })[];
    canTake: boolean;
  }[];
}

test("conflicts are settled over the API: the result passes the gates, lands, and touches no checkout", async () => {
  const files = { "a.txt": "top\none\nmid\nend\n", "b.txt": "b\n", "gone.txt": "g\n" };
  await using project = await makeProject({ files, gates: ["! grep -q bad a.txt"] });
  await project.git("checkout", "--quiet", "-b", "a", "main");
  await Bun.write(join(project.root, "a.txt"), "top\nof a\nmid\nend of a\n");
  await project.git("rm", "--quiet", "gone.txt");
  await project.git("commit", "--quiet", "-am", "work of a");
  await project.git("checkout", "--quiet", "main");
  await project.git("checkout", "--quiet", "-b", "b", "main");
  await Bun.write(join(project.root, "a.txt"), "top of b\nof b\nmid\nend\n");
  await Bun.write(join(project.root, "gone.txt"), "changed by b\n");
  await project.git("commit", "--quiet", "-am", "work of b");
  await project.git("checkout", "--quiet", "main");
  const web = await serveWeb(project);
  await project.json("merge", "--branch", "a");
  await project.ov("merge", "--branch", "b");
  const entryOfB = async () => (await project.read((tx) => tx.merges.list({ branch: "b" }))).at(-1);
  const id = (await entryOfB())?.id;
  const sides = async (of = id) => (await read(web, `/api/merge/${of}/conflicts`)) as Sides;
  const shown = await sides();
  expect(shown.files).toMatchObject([
    { path: "a.txt", canTake: true, parts: [{ hunk: 0 }, { lines: ["mid", "end of a"] }] },
    { path: "gone.txt", canTake: true, parts: [] },
  ]);
  const { onto, head } = shown;
  const settle = async (body: object, of = id) => {
    const reply = await web.send("POST", `/api/merge/${of}/settle`, { onto, head, ...body });
    return { status: reply.status, ...((await reply.json()) as { error?: { message: string }; commit?: string }) };
  };
  const gone = { path: "gone.txt", take: "target" };
  const refusals = [
    [{ files: [gone] }, "a.txt"],
    [{ files: [gone, { path: "a.txt", content: "<<<<<<< x\n=======\n>>>>>>> y\n" }] }, "conflict markers"],
    [{ files: [gone, { path: "a.txt", content: "x" }, { path: "b.txt", content: "x" }] }, "b.txt"],
    [{ files: [gone, { path: "a.txt" }] }, "either a side or a text"],
    [{ files: [gone, { path: "a.txt", content: "x\n" }], onto: head }, "has moved"],
  ] as const;
  for (const [body, words] of refusals) {
    const { status, error } = await settle(body);
    expect([status >= 400 && status < 500, error?.message]).toEqual([true, expect.stringContaining(words)]);
  }
  const checkout = async () => [await project.git("status", "--porcelain"), await project.git("rev-parse", "HEAD")];
  const before = await checkout();
  // A result that a gate refuses does not land, however it came about.
  const bad = await settle({ files: [gone, { path: "a.txt", content: "bad\n" }] });
  expect(bad.status).toBe(200);
  await project.until("the gate had refused it", async () => (await entryOfB())?.status === "failed");
  expect(await entryOfB()).toMatchObject({ cause: "gate_failed", headCommit: bad.commit });
  // What failed is tried again as it was settled, and the branch has it.
  expect((await project.git("rev-parse", "b")).trim()).toBe(bad.commit ?? "");
  await project.git("update-ref", "refs/heads/b", head);
  const retried = (await (await web.send("POST", `/api/merge/${(await entryOfB())?.id}/retry`)).json()) as {
    entry: { headCommit: string };
  };
  expect(retried.entry.headCommit).toBe(bad.commit ?? "");
  await project.until("the gate had refused it again", async () => (await entryOfB())?.status === "failed");
  const good = await settle({ files: [gone, { path: "a.txt", content: "top of b\nof both\nmid\nend of a\n" }] });
  expect(good.status).toBe(200);
  await project.until("b had landed", async () => (await entryOfB())?.status === "merged");
  const landed = await entryOfB();
  expect(await project.git("show", `${landed?.resultCommit}:a.txt`)).toBe("top of b\nof both\nmid\nend of a\n");
  expect((await project.git("ls-tree", "--name-only", String(landed?.resultCommit))).split("\n")).not.toContain(
    "gone.txt",
  );
  expect(await checkout()).toEqual(before);
  expect((await settle({ files: [] }, landed?.id)).error?.message).toContain("is merged");
  const changes = await project.read((tx) => tx.audit.list(100));
  expect(changes.some(({ action }) => action === "POST /api/merge/:of/settle")).toBe(true);
}, 60_000);

const read = async (web: WebClient, path: string) => (await (await web.get(path)).json()) as never;

test("the queue, a train with its growing log, a conflict with its sides, and a promotion are seen and done by the page", async () => {
  const files = { "shared.txt": "first\nsame\n", "other.txt": "one\n" };
  await using project = await makeProject({ files, gates: [gate] });
  await branch(project, "a", "shared.txt", "first of a\nsame\n");
  await branch(project, "b", "shared.txt", "first of b\nsame\n");
  await branch(project, "c", "other.txt", "two\n");
  const ids: Record<string, number> = {};
  for (const name of ["a", "b", "c"]) ids[name] = Number((await project.json("merge", "add", name)).id);
  const web = await serveWeb(project);
  const queue = async () => (await read(web, "/api/merge/queue")) as { items: { id: number; branch: string }[] };
  expect((await queue()).items).toMatchObject([
    { branch: "a", isStuck: true, can: ["approve", "reject", "move", "cancel"] },
    { branch: "b" },
    { branch: "c" },
  ]);
  const moved = await web.send("PATCH", `/api/merge/${ids.c}`, { priority: 1, after: [String(ids.a)] });
  expect(await moved.json()).toMatchObject({ entry: { priority: 1, waitsFor: [ids.a], place: null } });

  const live = await web.live();
  live.send({ op: "sub", id: "s", topic: "merge-state" });
  expect((await web.send("POST", `/api/merge/${ids.a}/approve`)).status).toBe(200);
  await live.until(({ id, items }) => id === "s" && JSON.stringify(items ?? "").includes('"status":"running"'));
  const state = (await read(web, "/api/merge/state")) as {
    trains: { members: object[]; checks: { gates: { log: string }[] }[] }[];
  };
  expect(state).toMatchObject({
    mode: "auto",
    gates: ["gate-1"],
    trains: [{ members: [{ branch: "a", status: "gating" }], checks: [{ purpose: "train" }] }],
  });
  const log = state.trains[0]?.checks[0]?.gates[0]?.log ?? "";
  live.send({ op: "sub", id: "l", topic: `gate:${log}` });
  await live.until(({ id, data, items }) => id === "l" && JSON.stringify([data, items]).includes("begun"));
  expect(await read(web, `/api/gates/${encodeURIComponent(log)}/log`)).toMatchObject({
    isRunning: true,
    items: [{ text: "\u001b[32mbegun\u001b[0m\n" }],
  });
  await letGo(project);
  await live.until(({ id, op, items }) => id === "l" && op === "delta" && JSON.stringify(items).includes("ended"));
  const status = async (name: string) => (await project.read((tx) => tx.merges.get(ids[name] ?? 0)))?.status;
  await project.until("a had landed", async () => (await status("a")) === "merged");
  const shown = (await read(web, `/api/merge/${ids.a}`)) as { gates: { id: string }[]; standing: { can: string[] } };
  expect(shown.standing).toMatchObject({ why: "landed without a conflict", can: ["undo"] });
  expect(await read(web, `/api/gates/${shown.gates[0]?.id}/log`)).toMatchObject({ isRunning: false, status: "passed" });

  expect((await web.send("POST", `/api/merge/${ids.b}/approve`)).status).toBe(200);
  await project.until("b conflicted", async () => (await status("b")) === "conflict");
  expect(await read(web, `/api/merge/${ids.b}/conflicts`)).toMatchObject({
    outlook: "conflicts",
    files: [
      {
        path: "shared.txt",
        settledBy: null,
        hunks: [
          {
            target: { line: 1, lines: ["first of a"] },
            base: { line: 1, lines: ["first"] },
            branch: { line: 1, lines: ["first of b"] },
            after: ["same"],
          },
        ],
      },
    ],
  });
  const { byHand } = (await read(web, `/api/merge/${ids.b}/conflicts`)) as {
    byHand: { busyAgent: string | null; steps: { command: string }[] };
  };
  expect(byHand.busyAgent).toBeNull();
  expect(byHand.steps.map(({ command }) => command)[4]).toBe(`ov merge retry ${ids.b}`);
  expect((await queue()).items[0]).toMatchObject({ branch: "c", can: expect.arrayContaining(["approve"]) });
  expect((await queue()).items[1]).toMatchObject({ branch: "b", can: ["retry", "cancel"] });

  const [op] = ((await read(web, "/api/merge/ops")) as { items: { id: string }[] }).items;
  expect(await read(web, `/api/merge/ops/${op?.id}/undo`)).toMatchObject({ later: 0, whole: true, promoted: null });
  await Bun.write(join(project.root, "shared.txt"), "my own\n");
  expect((await web.send("POST", "/api/merge/promote", { target: "main" })).status).toBe(200);
  const promotion = async () =>
    ((await read(web, "/api/merge/state")) as { unpromoted: { problem: string | null }[] }).unpromoted[0];
  await project.until("the promotion was refused", async () => (await promotion())?.problem != null);
  expect((await promotion())?.problem).toContain("shared.txt");
  await project.git("checkout", "--quiet", "shared.txt");
  await web.send("POST", "/api/merge/promote", { target: "main" });
  await project.until("main had moved", async () => (await promotion()) === undefined);
  expect(await project.git("show", "main:shared.txt")).toContain("first of a");
  live.close();
}, 120_000);

test("gates are run on what is named, and the answer says how they ended", async () => {
  await using project = await makeProject({ files: { "a.txt": "one\n" }, gates: ["grep -q one a.txt"] });
  await branch(project, "bad", "a.txt", "two\n");
  const web = await serveWeb(project);
  const live = await web.live();
  const answerOn = async (ref: string): Promise<string> => {
    const reply = await web.send("POST", "/api/gates", { ref });
    const { operation } = (await reply.json()) as { readonly operation: string };
    expect(reply.status).toBe(202);
    live.send({ op: "sub", id: ref, topic: `op:${operation}` });
    const isOver = /"(reply|error)":/;
    const told = await live.until(({ id, data, items }) => id === ref && isOver.test(JSON.stringify(data ?? items)));
    return JSON.stringify(told);
  };
  expect(await answerOn("main")).toContain('"passed":true');
  expect(await answerOn("bad")).toContain('"passed":false');
  expect((await project.read((tx) => tx.merges.list({}))).length).toBe(0);
  live.close();
}, 60_000);
