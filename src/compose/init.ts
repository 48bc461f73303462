import { existsSync, readFileSync, realpathSync, statSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { keepCopies } from "../config/compile.ts";
import { renderDefaultConfig } from "../config/render.ts";
import { configFiles, type Environment } from "../config/sources.ts";
import { planCommit } from "../domain/project/commit.ts";
import { generatedFiles, generatedNames } from "../domain/project/generated-texts.ts";
import type { ProjectPlace } from "../domain/project/place.ts";
import { invalid, type Refusal } from "../domain/refusal.ts";
import { no, ok, type Result } from "../domain/result.ts";
import { confirmFirstAttributes } from "../host/git/trusted-programs.ts";
import { randomIds } from "../host/ids.ts";
import { instructionFileOf } from "../host/project/coding-agents.ts";
import { commitPaths, ignored, type Uncommitted, uncommitted } from "../host/project/commit.ts";
import { createFile, keepCopy, makeDirectory, replaceFile } from "../host/project/files.ts";
import { type InstructionEdit, putGuide } from "../host/project/instruction-file.ts";
import { type Ledger, makeLedger } from "../host/project/ledger.ts";
import { hideFromGit, makeStateDir, withStateLock } from "../host/project/record.ts";
import { currentBranch, findRepository, type Repository } from "../host/project/repository.ts";
import {
  databaseIn,
  type FoundPlace,
  hasDatabase,
  isOldState,
  placeIfAny,
  readRecord,
  sharedDir,
} from "../host/project-place.ts";
import { readText } from "../host/read-text.ts";
import { openSqlite } from "../store/sqlite.ts";
import type { InitReport, InitRequest, ProjectFacet } from "../surfaces/cli/facets/project.ts";
import type { Call } from "../usecases/operation.ts";
import { bindProject, recordPlace } from "./bind-project.ts";
import { directChannel } from "./channel.ts";
import {
  configuredFacts,
  detectFacts,
  localGates,
  type ProjectFacts,
  proposeChanges,
  proposeFirst,
  proposeSetup,
  runtimeInForce,
} from "./init-facts.ts";
import { operatorOnly } from "./operator-only.ts";
import { openProject, openStore, refuseLostStore } from "./project.ts";

export interface ProjectFacetOptions {
  readonly cwd: string;
  readonly env: Environment;
  /** `--project`, when typed: the directory to work in instead of `cwd`. */
  readonly project?: string | undefined;
  readonly call: Call;
}

/** The project around a directory, which need not be one yet. */
export function makeProjectFacet({ cwd, env, project, call }: ProjectFacetOptions): ProjectFacet {
  const place = project === undefined ? cwd : resolve(cwd, project);
  return {
    init: (request) => init({ place, env }, request),
    setUpPlan: async () => {
      const repository = await findRepository(place);
      const { root, branch } = repository;
      if (placeIfAny(root) !== undefined || existsSync(join(sharedDir(root), "config.yaml"))) return undefined;
      const facts = await detectFacts({ repository, env, name: undefined });
      if (!facts.ok) return undefined;
      const { runtime, gates } = facts.value;
      return { root, runtime, gates, setup: proposeSetup(root, env, gates), branch };
    },
    proposals: async ({ reset }) => {
      const repository = await findRepository(place);
      const files = configFiles(repository);
      const isThere = existsSync(files.project) || existsSync(files.lastKnown.project);
      if (isThere && !reset) return { isConfigured: true, ...(await proposeChanges({ repository, env })) };
      return { isConfigured: false, ...proposeFirst(repository.root, env) };
    },
    set: async (key, value) => {
      const edited = await call("config.set", { key, value, local: false, at: "repository" });
      return edited.ok ? ok(null) : edited;
    },
    currentBranch: () => currentBranch(place),
  };
}

interface Situation {
  readonly place: string;
  readonly env: Environment;
}

async function init({ place, env }: Situation, request: InitRequest): Promise<Result<InitReport, Refusal>> {
  const repository = await findRepository(place);
  const { root } = repository;
  const dir = sharedDir(root);
  const found = placeIfAny(root);
  const refused = await operatorOnly(found?.state ?? repository.state, env, "set up a project");
  if (refused !== undefined) return no(refused);
  const { state, isAdopted } = await bound(found, repository, env);
  if (statSync(dir, { throwIfNoEntry: false })?.isDirectory() === false) {
    return no(invalid(".overstory", "must be a directory, but something else has that name", { value: dir }));
  }
  const files = configFiles({ root, state });
  const isThere = existsSync(files.project);
  // Another branch brought it before: this one gets the same.
  const lastKnown = isThere || request.reset ? undefined : readText(files.lastKnown.project);
  const keeps = (isThere || lastKnown !== undefined) && !request.reset;
  const question = { repository, env, name: request.name };
  const facts = keeps ? ok(await configuredFacts(question)) : await detectFacts(question);
  if (!facts.ok) return facts;

  if (request.newDatabase !== true) refuseLostStore({ root, state });
  await checkDatabase(state);
  const { name, canonicalBranch, gates, warnings } = facts.value;
  const isNewState = !existsSync(state);
  makeStateDir(state);
  // If several `ov init` run at the same time, one makes and commits everything, and the others find the work done.
  const plan = { root, state, env, facts: facts.value, request, lastKnown, isNewState };
  const { made, committing } = await withStateLock(state, () => setUpAndCommit(plan), "init.lock");
  const committedOn = committing.committed ? (repository.branch ?? null) : null;
  const stopped = isAdopted ? await stopAgents({ root, state }, env) : 0;
  const adopted = isAdopted
    ? [
        `this was a copy of another project; it is one of its own now${stopped === 0 ? "" : `, and its ${stopped} agents were stopped`}`,
      ]
    : [];
  const local = keeps ? [] : await localGates({ root, state });
  const { runtime, warnings: ofRuntime } = await runtimeInForce({ root, state }, env, request.runtime);
  return ok({
    status: keeps && isThere ? "already_initialized" : "initialized",
    project: name,
    root,
    canonicalBranch,
    runtime,
    gates: local.length > 0 ? local : gates,
    created: made.ledger.created,
    unchanged: made.ledger.unchanged,
    backups: made.backups,
    committed: committing.committed,
    committedOn,
    warnings: [
      ...adopted,
      ...earlierDatabases(root),
      ...ofRuntime,
      ...warnings,
      ...made.warnings,
      ...committing.warnings,
      ...(committing.committed && committedOn === null ? [onNoBranch] : []),
    ],
  });
}

const onNoBranch =
  "no branch is checked out, so the new files were committed on the detached HEAD alone; " +
  "keep that commit with: git branch <name>, or check your branch out and add them there with: ov init";

async function setUpAndCommit(plan: Plan) {
  const made = await setUp(plan);
  // Files of ours that git does not know come from an `ov init` that was killed before its commit.
  const isUnfinished = made.ledger.created.length > 0 || made.uncommitted.some(({ tracked }) => !tracked);
  const committing =
    plan.request.commit && isUnfinished ? await commit(plan.root, plan.env, made) : { committed: false, warnings: [] };
  return { made, committing };
}

/** The state directory as it belongs to this place. A copy of another project becomes one of its own here. */
async function bound(
  found: FoundPlace | undefined,
  { state }: Repository,
  env: Environment,
): Promise<{ readonly state: string; readonly isAdopted: boolean }> {
  if (found === undefined) return { state, isAdopted: false };
  const before = readRecord(found.state)?.id;
  const { state: now } = await bindProject(found, env, { adopt: true });
  const isAdopted = before !== undefined && readRecord(now)?.id !== before;
  return { state: now, isAdopted };
}

/** The agents of a copy worked in the original. Here they end, with their copied worktrees kept. */
async function stopAgents(place: ProjectPlace, env: Environment): Promise<number> {
  const project = await openProject(place, env);
  const channel = directChannel(project);
  try {
    const store = openStore(project, { life: "command", readOnly: true });
    const live = await store.read((tx) => tx.agents.list({ live: true }));
    await store.close();
    for (const { name } of live) await channel.call({ name: "agent.stop", request: { name, tree: false } });
    return live.length;
  } finally {
    await channel.close();
  }
}

interface Plan {
  readonly root: string;
  readonly state: string;
  readonly env: Environment;
  readonly lastKnown: string | undefined;
  readonly isNewState: boolean;
  readonly facts: ProjectFacts;
  readonly request: InitRequest;
}

interface Made {
  readonly ledger: Ledger;
  readonly backups: readonly string[];
  readonly guide: InstructionEdit | undefined;
  /** What was not committed before anything was written. */
  readonly uncommitted: readonly Uncommitted[];
  readonly warnings: readonly string[];
}

const sharedFiles = [...Object.values(generatedNames), "config.yaml"].map((name) => `.overstory/${name}`);

/**
 * Everything is written before the configuration, which is what makes a directory a project: whenever this is cut
 * short, the project is simply not set up yet, and the next call completes it.
 */
async function setUp({ root, state, env, facts, request, lastKnown, isNewState }: Plan): Promise<Made> {
  const dir = sharedDir(root);
  const instructionFile = request.instructions
    ? instructionFileOf({ root, path: env.PATH, runtime: facts.runtime })
    : undefined;
  const before = await uncommitted(root, [...sharedFiles, ...real(root, instructionFile)]);
  const ledger = makeLedger(root);
  for (const name of ["", "worktrees", "specs"]) ledger.note(join(dir, name), makeDirectory(join(dir, name)));
  // Mail, tokens and captured environments are its owner's alone.
  ledger.note(state, isNewState);
  for (const name of ["agents", "logs", "run"]) {
    ledger.note(join(state, name), makeDirectory(join(state, name), 0o700));
  }
  const texts = generatedFiles(randomIds.digest);
  for (const which of ["gitignore", "readme", "manifest"] as const) {
    const path = join(dir, generatedNames[which]);
    ledger.note(path, createFile(path, texts[which]));
  }
  await openDatabase({ root, state }, env, ledger);
  if (isNewState) await confirmFirstAttributes(root);
  const guide = instructionFile === undefined ? undefined : await putGuide(root, instructionFile, { edited: "keep" });
  if (guide !== undefined && guide.kind !== "left-alone") ledger.note(join(root, guide.path), guide.kind === "written");
  const backups = await writeConfig(
    join(dir, "config.yaml"),
    { text: lastKnown ?? renderDefaultConfig({ ...facts, setup: request.setup }), reset: request.reset },
    ledger,
  );
  keepCopies({ root, state });
  return {
    ledger,
    backups: backups.map((copy) => relative(root, copy)),
    guide,
    uncommitted: before,
    warnings: guide?.kind === "left-alone" ? [`${instructionFile} was left alone: ${guide.why}`] : [],
  };
}

/** A database that cannot be used is found out before anything is written. */
async function checkDatabase(state: string): Promise<void> {
  if (hasDatabase(state)) await openSqlite({ path: databaseIn(state), life: "command" }).close();
}

/** Opening it once makes it, or brings an older one up to date. */
async function openDatabase(place: ProjectPlace, env: Environment, ledger: Ledger): Promise<void> {
  const existed = hasDatabase(place.state);
  const path = databaseIn(place.state);
  if (isOldState(place.state)) await openSqlite({ path, life: "command" }).close();
  else {
    const hiding = hideFromGit(place);
    if (hiding !== undefined) ledger.note(hiding.path, hiding.changed);
    await recordPlace(place, env);
  }
  ledger.note(path, !existed);
}

/** Answers the copies that were kept of what a reset replaced; without a reset, what is there stays. */
async function writeConfig(
  path: string,
  { text, reset }: { readonly text: string; readonly reset: boolean },
  ledger: Ledger,
): Promise<readonly string[]> {
  const created = createFile(path, text);
  const replaces = reset && !created && !readFileSync(path).equals(Buffer.from(text));
  const copies = replaces ? [keepCopy(path, Date.now())] : [];
  if (replaces) await replaceFile(path, { bytes: text });
  ledger.note(path, created || replaces);
  return copies;
}

async function commit(
  root: string,
  env: Environment,
  { guide, uncommitted }: Made,
): Promise<{ readonly committed: boolean; readonly warnings: readonly string[] }> {
  const own = sharedFiles.map((path) => ({ path, mixed: false }));
  if (guide !== undefined && guide.kind !== "left-alone") own.push({ path: guide.path, mixed: !guide.ours });
  const all = own.map(({ path }) => path);
  const plan = planCommit({ own, uncommitted, ignored: await ignored(root, all) });
  const answer = await commitPaths({
    root,
    env,
    paths: plan.paths,
    message: "chore: initialise overstory",
  });
  const warnings = [
    ...because(plan.theirs, "changes of yours in there are not committed yet"),
    ...because(plan.ignored, "git is told to ignore that"),
    ...(answer.kind === "failed" ? because(plan.paths, answer.why) : []),
    ...(answer.kind === "committed" && answer.hooksNotRun.length > 0
      ? [`the new files were committed without running git hooks: ${answer.hooksNotRun.join(", ")}`]
      : []),
  ];
  return { committed: answer.kind === "committed", warnings };
}

const because = (paths: readonly string[], why: string): readonly string[] =>
  paths.length === 0 ? [] : [`not committed: ${paths.join(", ")} (${why})`];

/** Where an instruction file that may be a link really is: git speaks of that path, and only of those below its root. */
function real(root: string, name: string | undefined): readonly string[] {
  if (name === undefined || !existsSync(join(root, name))) return [];
  const path = relative(realpathSync(root), realpathSync(join(root, name)));
  return path.startsWith("../") ? [] : [path];
}

/** What version 0.11 kept its data in, one file for each part. */
const earlierNames = ["mail.db", "sessions.db", "events.db", "metrics.db", "merge-queue.db"];

/** Names the databases of an earlier version, so that the user does not take their tasks and mail for lost. */
function earlierDatabases(root: string): readonly string[] {
  const found = earlierNames.filter((name) => existsSync(join(root, ".overstory", name)));
  if (found.length === 0) return [];
  return [
    `.overstory/ holds databases of an earlier Overstory (${found.join(", ")}); they are left as they are, and ov import will bring them in once it is there`,
  ];
}
