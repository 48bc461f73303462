import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { directoryIdentity } from "../../src/host/git/places.ts";
import { brokenInvariants, findInconsistencies } from "../../testkit/consistency.ts";
import { jsonOf } from "../../testkit/ov.ts";
import { type DoctorWorld, dead, makeDoctorWorld } from "./doctor.world.ts";

/**
 * What can stand in each place for one agent. An agent of a combination has one of each, and most of them do not fit together:
 * 4 x 4 x 2 x 3 x 3 x 3 x 2 = 1,728. The test makes so many of them that any three values meet in one agent.
 */
const states = {
  row: ["waiting", "ended", "released", "none"],
  worktree: ["whole", "gone", "replaced", "unlinked"],
  branch: ["there", "gone"],
  process: ["none", "recorded but gone", "alive"],
  lease: ["none", "of a turn that is none", "of a person who is gone"],
  snapshot: ["none", "not on record", "without its ref"],
  files: ["none", "there"],
} as const;

type Place = keyof typeof states;
type Combination = { readonly [P in Place]: (typeof states)[P][number] };

const places = Object.keys(states) as readonly Place[];

/** The combinations in which any three values of different places are together at least once, chosen greedily. */
function combinations(): readonly Combination[] {
  const all = places.reduce<Partial<Combination>[]>(
    (some, place) => some.flatMap((one) => states[place].map((value) => ({ ...one, [place]: value }))),
    [{}],
  ) as Combination[];
  const left = new Set(all.flatMap(triples));
  const chosen: Combination[] = [];
  const gain = (one: Combination): number => triples(one).filter((triple) => left.has(triple)).length;
  while (left.size > 0) {
    const best = all.reduce((a, b) => (gain(b) > gain(a) ? b : a));
    for (const triple of triples(best)) left.delete(triple);
    chosen.push(best);
  }
  return chosen;
}

const triples = (one: Combination): string[] =>
  places.flatMap((a, i) =>
    places.slice(i + 1).flatMap((b, j) => places.slice(i + j + 2).map((c) => [a, one[a], b, one[b], c, one[c]].join())),
  );

/** The findings that a combination must give, each by the beginning of its id. */
function expectedOf(name: string, one: Combination): readonly string[] {
  const isSeated = one.row === "waiting" || one.row === "ended";
  const seat = {
    whole: "",
    gone: "agent-without-worktree",
    replaced: "worktree-replaced",
    unlinked: "worktree-without-link",
  };
  const stray = {
    whole: "worktree-without-agent",
    gone: "record-of-no-worktree",
    replaced: "directory-without-agent",
    unlinked: "directory-without-agent",
  };
  return [
    ...(isSeated && one.worktree !== "whole" ? [`${seat[one.worktree]}:${name}`] : []),
    ...(one.row === "released" && one.worktree !== "gone" ? [`worktree-of-released-agent:${name}`] : []),
    ...(one.row === "released" && one.worktree === "replaced" ? [`directory-without-agent:${name}`] : []),
    ...(one.row === "none" ? [`${stray[one.worktree]}:`] : []),
    ...(isSeated && one.branch === "gone" ? [`agent-without-branch:${name}`] : []),
    ...(one.row === "none" && one.branch === "there" ? [`branch-without-agent:overstory/${name}/`] : []),
    ...(one.process === "recorded but gone" ? [`record-of-gone-process:process-${name}`] : []),
    ...(one.process === "alive" && one.row !== "waiting" ? [`process-of-ended-turn:process-${name}`] : []),
    ...(one.lease === "of a turn that is none" ? [`lease-of-ended-turn:turn:${name}`] : []),
    ...(one.lease === "of a person who is gone" ? [`attached-without-process:${name}`] : []),
    ...(one.snapshot === "not on record" ? [`snapshot-not-on-record:refs/overstory/snap/${name}/`] : []),
    ...(one.snapshot === "without its ref" ? [`snapshot-without-ref:refs/overstory/snap/${name}/`] : []),
    ...(one.row === "none" && one.files === "there" ? [`files-of-no-agent:agents/${name}`] : []),
  ];
}

let world: DoctorWorld & AsyncDisposable;
beforeAll(async () => {
  world = await makeDoctorWorld(["waits"]);
}, 60_000);
afterAll(() => world[Symbol.asyncDispose]());

const at = 1_790_000_000_000;

/** Makes an agent whose worktree has a commit and a loose file, and then takes away or adds what the combination says. */
async function make(name: string, one: Combination): Promise<void> {
  const { root, git, sql, put } = world;
  const path = join(root, ".overstory", "worktrees", name);
  const branch = `overstory/${name}/T`;
  await git("worktree", "add", "--quiet", "-b", branch, path, "main");
  for (const kind of ["commit", "loose"]) writeFileSync(join(path, `${kind}.txt`), `PLANT.${name}.${kind}\n`);
  await git("-C", path, "add", "commit.txt");
  await git("-C", path, "commit", "--quiet", "-m", `work of ${name}`);
  const head = (await git("-C", path, "rev-parse", "HEAD")).trim();
  const id = `agent-${name}`;
  if (one.row !== "none") {
    const isOver = one.row !== "waiting";
    const ends = isOver ? "'completed', 1, 'done'" : "'between_turns', 1, NULL";
    sql(
      `INSERT INTO agents (id, name, generation, capability, runtime, topology, parent_name, depth, run_id, scope, worktree_path,
         branch, base_ref, base_commit, state, state_version, outcome, reminders, started_at, last_activity_at, ended_at, released_at,
         head_commit, ahead, worktree_identity, driver)
       SELECT ?, ?, 1, capability, runtime, topology, 'operator', 0, run_id, '[]', ?, ?, base_ref, base_commit, ${ends}, 0, ?, ?,
         ?, ?, ?, 1, ?, driver FROM agents WHERE name = 'waits'`,
      ...[id, name, path, branch, at, at, isOver ? at : null, one.row === "released" ? at : null, head],
      directoryIdentity(path),
    );
    if (!isOver) {
      const asked = world.ask("SELECT ref FROM waits WHERE agent_name = 'waits' AND kind = 'reply'");
      put("waits", { agent_name: name, kind: "reply", ref: asked, since: at });
    }
  }
  if (one.process !== "none") putProcess(`process-${name}`, id, one.process === "alive");
  if (one.lease === "of a turn that is none")
    put("leases", { name: `turn:${name}`, fence: 1, beat: 1, process_id: null });
  if (one.lease === "of a person who is gone") {
    putProcess(`person-${name}`, id, false);
    put("leases", { name: `attach:${name}`, fence: 1, beat: 1, process_id: `person-${name}` });
    put("waits", { agent_name: name, kind: "operator", ref: `attach:${name}`, since: at });
  }
  const ref = `refs/overstory/snap/${name}/1/1`;
  if (one.snapshot === "not on record") await git("update-ref", ref, head);
  if (one.snapshot === "without its ref") {
    const row = { agent_name: name, generation: 1, ref, commit_id: head, reason: "r", skipped: "[]", created_at: at };
    put("snapshots", row);
  }
  if (one.files === "there") world.file(`agents/${name}/notes.md`, `PLANT.${name}.notes\n`);
  if (one.branch === "gone") await git("update-ref", "-d", `refs/heads/${branch}`);
  if (one.worktree === "gone") rmSync(path, { recursive: true });
  if (one.worktree === "unlinked") rmSync(join(path, ".git"));
  if (one.worktree === "replaced") {
    renameSync(path, join(world.project.home, name));
    mkdirSync(path);
    writeFileSync(join(path, "other.txt"), `PLANT.${name}.other\n`);
  }
}

function putProcess(id: string, agent: string, isAlive: boolean): void {
  const { pid, startToken, bootId } = isAlive ? world.sleeper() : dead;
  const identity = { pid, start_token: startToken, boot_id: bootId };
  world.put("processes", { id, role: "agent", agent_id: agent, turn_id: null, ...identity, started_at: at });
}

test("any three things of an agent that do not fit together are found and mended, and nothing that was there is lost", async () => {
  const chosen = combinations().map((one, n) => [`c${n}`, one] as const);
  expect(chosen.length).toBeGreaterThanOrEqual(60);
  for (const [name, one] of chosen) await make(name, one);
  for (const [name] of chosen)
    for (const kind of ["commit", "loose", "notes", "other"]) world.planted.add(`PLANT.${name}.${kind}`);
  const wasLost = new Set(await world.lost());
  const found = (await findInconsistencies(world.root)).map(({ key }) => key);
  const missed = chosen.flatMap(([name, one]) =>
    expectedOf(name, one)
      .filter((id) => !found.some((key) => key.startsWith(id)))
      .map((id) => `${id} of ${JSON.stringify(one)}`),
  );
  expect(missed).toEqual([]);
  const answer = jsonOf(await world.project.ov("doctor", "--fix", "--yes", "--json"));
  const fixes = answer.fixes as readonly { id: string; outcome: string; why: string | null }[];
  expect(fixes.filter(({ outcome }) => outcome !== "fixed" && outcome !== "engine")).toEqual([]);
  await world.atRest();
  expect(await brokenInvariants(world.root)).toEqual([]);
  expect((await world.lost()).filter((token) => !wasLost.has(token))).toEqual([]);
}, 240_000);
