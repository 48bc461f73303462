import type { Agent } from "../../domain/agent/agent.ts";
import type { DoctorCheck } from "../../domain/consistency/check.ts";
import type { ProjectFacts } from "../../domain/consistency/facts.ts";
import { type FixStep, type RowRepair, row } from "../../domain/consistency/finding.ts";
import { inconsistencies } from "../../domain/consistency/invariants.ts";
import { failureOf } from "../../domain/failure.ts";
import { nearest } from "../../domain/name/nearest.ts";
import { notFound, type Refusal } from "../../domain/refusal.ts";
import { no, ok, type Result } from "../../domain/result.ts";
import { fields, flag, list, text } from "../../domain/schema/schema.ts";
import type { ProjectRepairs } from "../../ports/project-survey.ts";
import type { Effect, World } from "../operation.ts";
import { removeOne } from "../worktrees/clean-worktrees.ts";
import { worktreeOf } from "../worktrees/owners.ts";
import { worktreePorts } from "../worktrees/survey.ts";
import { type ExamineRequest, examine, examineFields, lookOnce } from "./examine.ts";
import type { RepairReply, RepairRequest } from "./repair-rows.ts";

export interface FixRequest extends ExamineRequest {
  /** Ids of findings, or names of rules; none: everything that can be fixed. */
  readonly only: readonly string[];
  readonly dryRun: boolean;
}

/**
 *   planned    what would be done
 *   fixed      the finding is gone
 *   engine     the engine has mended it
 *   refused    a live engine owns it, and did not mend it in time
 *   failed     it is still there; `why` says what went wrong
 */
export interface FixResult {
  readonly id: string;
  readonly message: string;
  readonly does: string;
  readonly outcome: "planned" | "fixed" | "engine" | "refused" | "failed";
  /** The steps that were taken, a sentence each. */
  readonly actions: readonly string[];
  readonly why: string | null;
}

export interface FixReport {
  readonly before: readonly DoctorCheck[];
  readonly fixes: readonly FixResult[];
  /** The same checks once more; those of before where nothing was done. */
  readonly after: readonly DoctorCheck[];
}

/** Mends the findings of `examine`, and looks again. Deletes nothing that an agent wrote. */
export const fixProject: Effect<FixRequest, FixReport> = {
  kind: "effect",
  request: fields<FixRequest>({ ...examineFields, only: list(text), dryRun: flag }),
  place: "caller",
  run: async (world, request) => {
    const refused = request.dryRun ? undefined : await world.requireOperator("doctor.fix");
    if (refused !== undefined) return no(refused);
    const before = await examine(world, request);
    const chosen = choose(before, request.only);
    if (!chosen.ok) return chosen;
    const planned = chosen.value.map((check) => resultOf(check, "planned"));
    if (request.dryRun || planned.length === 0) return ok({ before, fixes: planned, after: before });
    const attempts = await carryOut(world, chosen.value);
    const after = await examine(world, request);
    const left = new Set(after.filter(({ status }) => status !== "pass").map(({ id }) => id));
    return ok({ before, fixes: attempts.map((attempt) => proven(attempt, left)), after });
  },
};

function choose(checks: readonly DoctorCheck[], only: readonly string[]): Result<readonly DoctorCheck[], Refusal> {
  const open = checks.filter(({ status }) => status !== "pass");
  const names = [...new Set([...open.flatMap(({ id, name }) => [id, name])])];
  const unknown = only.find((one) => !names.includes(one));
  if (unknown !== undefined) return no(notFound("finding", unknown, nearest(unknown, names)));
  const meant = only.length === 0 ? open : open.filter(({ id, name }) => only.includes(id) || only.includes(name));
  return ok(meant.filter(({ steps }) => steps.length > 0));
}

const resultOf = (
  { id, message, fix }: DoctorCheck,
  outcome: FixResult["outcome"],
  more: Partial<Pick<FixResult, "actions" | "why">> = {},
): FixResult => ({ id, message, does: fix ?? "", outcome, actions: [], why: null, ...more });

/** A fix counts when the finding is gone. */
function proven(attempt: FixResult, left: ReadonlySet<string>): FixResult {
  if (attempt.outcome === "refused" || attempt.outcome === "failed") return attempt;
  if (!left.has(attempt.id)) return attempt;
  return { ...attempt, outcome: "failed", why: attempt.why ?? "it is still there after the fix" };
}

async function carryOut(world: World, chosen: readonly DoctorCheck[]): Promise<readonly FixResult[]> {
  const survey = await world.projectSurvey();
  const { engine } = await lookOnce(world, survey);
  const ofEngine = chosen.filter((check) => engine.isAlive && check.isOfEngine);
  const asked = await askEngine(world, ofEngine, "wake");
  const own = chosen.filter((check) => !ofEngine.includes(check));
  const results = new Map<string, FixResult>();
  // The engine's own findings come first: another step may start an engine. Repairs of rows start none, because it
  // would act on rows that are not mended yet.
  const parts = [own.filter(({ isOfEngine }) => isOfEngine), inOrder(own.filter(({ isOfEngine }) => !isOfEngine))];
  let isWorkDue = false;
  for (const part of parts) isWorkDue = (await carryOutOwn(world, part, results)) || isWorkDue;
  const byStart = own.filter(
    ({ id, steps }) => steps.some(({ on }) => on === "engine") && results.get(id)?.outcome !== "refused",
  );
  if (isWorkDue && byStart.length === 0) await world.call("engine.start", {});
  for (const result of await askEngine(world, byStart, "start")) results.set(result.id, result);
  return [...asked, ...own.flatMap(({ id }) => results.get(id) ?? [])];
}

const engineCame = "an engine has started meanwhile; look again: ov doctor";

/**
 * Either all of them are of the engine, and must not be touched once there is one, or none is. True when an engine has
 * something to do by it.
 */
async function carryOutOwn(
  world: World,
  checks: readonly DoctorCheck[],
  results: Map<string, FixResult>,
): Promise<boolean> {
  if (checks.length === 0) return false;
  const survey = await world.projectSurvey();
  // These rows also hold the fence, so an engine that starts later is noticed by its fence.
  const facts = await lookOnce(world, survey);
  const still = new Set(inconsistencies(facts).map(({ key }) => key));
  const repairs = await world.projectRepairs();
  const rows: { readonly check: DoctorCheck; readonly repairs: readonly RowRepair[] }[] = [];
  for (const check of checks) {
    const isStale = isOfRules(check) && !still.has(check.id);
    if (isStale || (facts.engine.isAlive && check.isOfEngine)) {
      const why = isStale ? null : engineCame;
      results.set(check.id, resultOf(check, isStale ? "fixed" : "refused", { why }));
      continue;
    }
    const done = await doSteps({ world, repairs, facts }, check);
    results.set(check.id, done.result);
    if (done.result.outcome !== "failed" && done.rows.length > 0) rows.push({ check, repairs: done.rows });
  }
  const isOfEngine = checks.some((check) => check.isOfEngine);
  const ofRows = rows.flatMap((one) => one.repairs);
  const isFresh = isOfEngine || ofRows.length === 0;
  let stored = await repairRows(world, isFresh ? facts : await lookOnce(world, survey), ofRows);
  // An engine that another command started may take its seat between the look and the repair.
  for (let again = 0; !stored.isFree && !isOfEngine && again < mostLooks; again++) {
    stored = await repairRows(world, await lookOnce(world, survey), ofRows);
  }
  if (stored.isFree) return stored.isWorkDue;
  for (const { check } of rows) results.set(check.id, resultOf(check, "refused", { why: engineCame }));
  return false;
}

/** One engine at most takes the seat meanwhile, and a successor if that one ends. */
const mostLooks = 3;

/** The id of such a finding also names its subject, so a second look can find the same one again quickly. */
const isOfRules = ({ id, name }: DoctorCheck): boolean => id !== name;

/**
 * A lost snapshot ref comes back first: the removal of a worktree takes a snapshot, and gives it the next number that no
 * ref has. A worktree goes before its branch: its snapshot needs the branch, and git does not delete a branch that is
 * checked out.
 */
const inOrder = (checks: readonly DoctorCheck[]): readonly DoctorCheck[] => {
  const has = ({ steps }: DoctorCheck, on: FixStep["on"]): boolean => steps.some((step) => step.on === on);
  const rank = (check: DoctorCheck): number => {
    if (has(check, "retire")) return 3;
    if (has(check, "remove")) return 1;
    return has(check, "restore") ? 0 : 2;
  };
  return checks.toSorted((a, b) => rank(a) - rank(b));
};

async function repairRows(world: World, { rows }: ProjectFacts, repairs: readonly RowRepair[]): Promise<RepairReply> {
  if (repairs.length === 0) return { isFree: true, isWorkDue: false };
  const fence = rows?.leases.find(({ name }) => name === "engine")?.fence ?? null;
  const endsTurns = repairs.some(({ kind }) => kind === "end-turn");
  const stored = await world.call("doctor.repairRows", { repairs, fence, ...(endsTurns ? await pricesOf(world) : {}) });
  return stored.ok ? stored.value : { isFree: false, isWorkDue: false };
}

async function pricesOf(world: World): Promise<Pick<RepairRequest, "prices">> {
  const { version, date, models } = (await world.prices()).list;
  return { prices: { version, date, models: Object.fromEntries(models) } };
}

/** A woken engine looks within milliseconds. An engine that starts may have to finish a gate or a worktree first. */
const patienceMs = { wake: 5_000, start: 30_000 } as const;
const betweenLooksMs = 300;

async function askEngine(
  world: World,
  checks: readonly DoctorCheck[],
  how: keyof typeof patienceMs,
): Promise<readonly FixResult[]> {
  if (checks.length === 0) return [];
  if (how === "start") await world.call("engine.start", {});
  else await (await world.engine())?.wake();
  const survey = await world.projectSurvey();
  const deadline = performance.now() + patienceMs[how];
  let left = new Set<string>();
  do {
    await world.sleep(betweenLooksMs);
    left = new Set(inconsistencies(await lookOnce(world, survey)).map(({ key }) => key));
  } while (checks.some(({ id }) => left.has(id)) && performance.now() < deadline);
  return checks.map((check) => {
    if (!left.has(check.id)) return resultOf(check, "engine", { actions: ["the engine has mended it"] });
    const why =
      how === "start"
        ? "the engine runs, and has not mended it yet; see ov engine status"
        : `the engine owns it; type: ov engine stop && ov doctor --fix ${check.id}`;
    return resultOf(check, "refused", { why });
  });
}

interface FixTools {
  readonly world: World;
  readonly repairs: ProjectRepairs;
  readonly facts: ProjectFacts;
}

/** Everything but the rows and the engine. A step that fails ends this fix, and not those of other findings. */
async function doSteps(
  tools: FixTools,
  check: DoctorCheck,
): Promise<{ readonly result: FixResult; readonly rows: readonly RowRepair[] }> {
  const actions: string[] = [];
  const rows: RowRepair[] = [];
  try {
    for (const step of check.steps) {
      const done = await doStep(tools, step);
      actions.push(...done.actions);
      rows.push(...done.rows);
    }
    return { result: resultOf(check, "fixed", { actions }), rows };
  } catch (error) {
    const failure = failureOf(error);
    const why = "problem" in failure ? failure.problem : failure.kind;
    return { result: resultOf(check, "failed", { actions, why }), rows: [] };
  }
}

interface Done {
  readonly actions: readonly string[];
  readonly rows: readonly RowRepair[];
}

const did = (...actions: readonly string[]): Done => ({ actions, rows: [] });

async function doStep({ world, repairs, facts }: FixTools, step: FixStep): Promise<Done> {
  switch (step.on) {
    case "row":
      return { actions: [`database: ${step.repair.kind} ${step.repair.id}`], rows: [step.repair] };
    case "trash": {
      const now = repairs.trash(step.path);
      return now === undefined ? did() : did(`moved ${step.path} to ${now}`);
    }
    case "delete":
      repairs.delete(step.path);
      return did(`deleted ${step.path}`);
    case "mode":
      repairs.setMode(step.path, step.mode);
      return did(`set ${step.path} to ${step.mode.toString(8)}`);
    case "retire": {
      const kept = await repairs.retire(step.ref, step.commit);
      if (kept === null) return did(`deleted ${step.ref}; a branch holds its commits`);
      const agentName = kept.slice("refs/overstory/rescue/".length).replace(/-\d+(-\d+)?$/, "");
      const onRecord = row("record-snapshot", kept, { of: step.commit, detail: agentName, number: 0 });
      return { actions: [`kept ${step.ref} as ${kept}`], rows: [onRecord.repair] };
    }
    case "drop-ref":
      return did(`deleted ${step.ref}; noted in ${await repairs.dropRef(step.ref, step.commit)}`);
    case "restore":
      return did((await repairs.restore(step.ref, step.commit)) ? `made ${step.ref} again` : `${step.ref} is there`);
    case "reseat":
      return reseat(world, agentOf(facts, step.agentId));
    case "relink":
      return relink(world, agentOf(facts, step.agentId));
    case "recheck": {
      const now = await repairs.recheck(step.file, step.branch);
      return did(`moved ${step.file.path} to ${now ?? "nowhere: it was gone"}, and wrote it again`);
    }
    case "remove":
      return removeWorktree(world, step);
    case "prune":
      return prune(world, repairs, step.path);
    case "end": {
      const { pid } = step.process;
      await (await world.processes()).endTree(step.process, graceMs, { turnId: step.turnId ?? undefined });
      return did(`ended process ${pid}`);
    }
    case "respec":
      await world.call("spec.read", { taskId: step.taskId });
      return did(`wrote the specification of ${step.taskId}`);
    case "finish":
      await repairs.finishMoves();
      return did("finished the moves of checkouts");
    case "update": {
      const done = await world.call("project.update", { only: [], dryRun: false, force: false });
      return did(...(done.ok ? done.value.written.map((path) => `wrote ${path}`) : []));
    }
    case "rebuild":
      return did(`built the indexes again; a copy is at ${repairs.rebuildDatabase()}`);
    case "engine":
      return did();
  }
}

const graceMs = 2_000;

function agentOf({ rows }: ProjectFacts, id: string): Agent {
  const agent = rows?.agents.find((one) => one.id === id);
  if (agent === undefined) throw new Error(`the agent ${id} is not on record any more`);
  return agent;
}

/** As for an agent that is recovered: the branch is checked out again, and what snapshots kept comes back. */
async function reseat(world: World, agent: Agent): Promise<Done> {
  const worktrees = await world.worktrees();
  const { name: agentName, worktreePath: path, branch, worktreeKind: kind, worktreeIdentity: identity } = agent;
  if (path === null || branch === null) return did();
  const request = { agentName, branch, path, kind, identity, lastCommit: agent.headCommit };
  const lost = await worktrees.intendRestore(request);
  if (lost !== undefined) throw new Error(lost);
  const created = await worktrees.create({ ...request, baseRef: agent.baseCommit ?? branch });
  if (!created.ok) throw new Error(created.refusal.problem);
  const { identity: now, putAside, baseCommit } = created.value;
  const restored = await worktrees.restore({ ...request, generation: agent.generation, identity: now, baseCommit });
  const files = restored?.files.length ?? 0;
  return {
    actions: [
      ...(putAside === undefined ? [] : [`moved what stood there to ${putAside}`]),
      `made ${path} again on ${branch}, with ${files} uncommitted files from a snapshot`,
      // Its files would put back what the branch has changed since.
      ...(restored?.left == null
        ? []
        : [
            `what ${kept(restored.left.ref)} holds beside the branch stays there: ov snapshots show ${kept(restored.left.ref)}`,
          ]),
    ],
    rows: [row("record-seat", agent.id, { detail: now }).repair],
  };
}

const kept = (ref: string): string => ref.replace("refs/overstory/", "");

async function relink(world: World, agent: Agent): Promise<Done> {
  const worktree = worktreeOf(agent);
  if (worktree === undefined) return did();
  const link = await (await world.worktrees()).ensureLink(worktree);
  if (link.kind === "broken") throw new Error(link.problem);
  return did(`wrote the link of ${worktree.path} again`);
}

/** A worktree of no agent: all work in it is kept under a rescue ref first. The branch stays. */
async function removeWorktree(
  world: World,
  { path, branch }: { readonly path: string; readonly branch: string },
): Promise<Done> {
  const agentName = path.slice(path.lastIndexOf("/") + 1);
  const worktree = { agentName, generation: 0, path, branch, kind: "linked", baseCommit: null } as const;
  const verdict = { class: "unmerged", reason: "it belongs to no agent", next: null } as const;
  const names = [{ name: agentName, agentId: null }];
  const going = {
    worktree,
    verdict,
    landed: false,
    exists: true,
    names,
    tip: undefined,
    agentId: null,
    incarnations: [],
  };
  const removed = await removeOne(await worktreePorts(world), going, { branch: "when-landed" });
  if (!removed.ok) throw new Error(`it may not be removed now (${removed.refusal.kind})`);
  const { problem, rescue } = removed.value;
  if (!removed.value.removed) throw new Error(problem ?? "it could not be removed");
  return did(`kept its work as ${rescue?.ref ?? "nothing: it was empty"}`, `took ${path} away`);
}

async function prune(world: World, repairs: ProjectRepairs, path: string): Promise<Done> {
  const agentName = path.slice(path.lastIndexOf("/") + 1);
  const gone = { agentName, generation: 0, path, branch: "", kind: "linked", baseCommit: null } as const;
  const kept = await (await world.worktrees()).snapshot(gone);
  await repairs.prune(path);
  const actions = [`deleted git's record of ${path}`];
  if (kept === undefined) return did(...actions);
  const onRecord = row("record-snapshot", kept.ref, { of: kept.commit, detail: agentName, number: 0 });
  return { actions: [...actions, `kept its commits as ${kept.ref}`], rows: [onRecord.repair] };
}
