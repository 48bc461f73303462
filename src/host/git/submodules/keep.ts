import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { KeptSubmodule, OwnedWorktree } from "../../../ports/worktrees.ts";
import { expectGit, runGit } from "../git.ts";
import { type OwnDir, openOwnDir } from "../own-dir.ts";
import { standing } from "../places.ts";
import { parseRefs, type Ref } from "../refs.ts";
import { type GitProject, makeGitDirectories, type Repository } from "../repository.ts";
import { transfer } from "../work/collect.ts";
import { looseCommits } from "../work/loose-commits.ts";
import { saveWork } from "../work/snapshot.ts";
import { type OpenWorktree, openWorktree } from "../worktree/open-worktree.ts";
import {
  type AgentModule,
  alone,
  brokenModules,
  type CheckedOut,
  changedIn,
  gitDirWithModules,
  moduleAsProject,
  modulesIn,
  ownedModule,
} from "./agent-modules.ts";
import { configText } from "./lay-out.ts";
import {
  agentRefs,
  changeModuleRefs,
  homeInside,
  homeOf,
  isRepository,
  lastWorkRef,
  type ModuleHome,
  mayHave,
  moduleRefs,
  openModule,
  openRefs,
} from "./users-module.ts";

/**
 * Brings commits and uncommitted work of all submodules of a worktree into the user's modules, under refs of ours: what
 * nothing else there holds, under the name of its commit. Never rejects for what an agent did to a submodule; that is
 * in the answer.
 */
export async function keepSubmodules(project: GitProject, worktree: OwnedWorktree): Promise<readonly KeptSubmodule[]> {
  const gitDir = gitDirWithModules(project, worktree);
  if (gitDir === undefined) return [];
  using open = standing(worktree) === "own" ? await openWorktree(project, worktree) : null;
  const kept: KeptSubmodule[] = [];
  const visit = async (level: Level): Promise<void> => {
    for (const name of brokenModules(level.gitDir)) kept.push({ path: level.prefix + name, refs: [], problem: broken });
    for (const found of await modulesIn(level.gitDir, { ...level, worktree })) {
      const path = found.path ?? level.prefix + found.name;
      try {
        const { refs, inner } = await keepOne(project, worktree, { found, level });
        if (refs.length > 0) kept.push({ path, refs, problem: null });
        if (inner !== undefined) await visit(inner);
      } catch (error) {
        kept.push({ path, refs: [], problem: error instanceof Error ? error.message : String(error) });
      }
    }
  };
  await visit({
    gitDir,
    home: homeOf(project.repository),
    prefix: "",
    objectFormat: project.repository.objectFormat,
    pointers: open === null ? [] : await pointersOf(open, worktree.baseCommit),
    urlOf: async (name) => (open === null ? undefined : urlIn(open.own, name)),
  });
  return kept;
}

const broken = "its git directory cannot be read any more";

/** One repository with submodules in it: the worktree itself, or a submodule of it. */
interface Level {
  readonly gitDir: string;
  readonly home: ModuleHome;
  /** Its path from the top of the worktree, with a slash behind it unless that is the worktree itself. */
  readonly prefix: string;
  readonly objectFormat: string;
  /** Commits of submodules that the agent's commits and index name. */
  readonly pointers: readonly string[];
  urlOf(name: string): Promise<string | undefined>;
}

async function keepOne(
  project: GitProject,
  worktree: OwnedWorktree,
  { found, level }: { readonly found: AgentModule; readonly level: Level },
): Promise<{ readonly refs: readonly string[]; readonly inner?: Level }> {
  const seen = found.module ?? alone(found, level.objectFormat);
  const { commits, head, isOwn } = await commitsIn(project, { found, seen, pointers: level.pointers });
  const path = found.path;
  const isDirty =
    path !== undefined && (await changedIn(project, worktree, { ...found, path, module: seen })).length > 0;
  // A submodule that the agent only had a look at is not the user's concern.
  if (found.module === undefined && !isOwn && !isDirty) return { refs: [] };
  const module = found.module ?? (await adopt(level, found.name));
  const isClone = worktree.kind === "clone";
  using both = openRefs(module, project.scratch, {
    alsoReads: [found.place.objects],
    within: () => (isClone ? project.confine?.([worktree.path, found.place.gitDir], project.scratch) : undefined),
  });
  const kept = await keepCommits({ ...project, repository: module }, { agentName: worktree.agentName, both, commits });
  const prefix = `${path ?? level.prefix + found.name}/`;
  const inner = {
    gitDir: found.place.gitDir,
    home: homeInside(level.home, module, prefix.slice(level.prefix.length, -1)),
    prefix,
    objectFormat: module.objectFormat,
    pointers: await pointersIn(both, kept.tips, kept.known),
    urlOf: (name: string) => urlIn(both, name, head),
  };
  const work = isDirty ? await keepWork(project, worktree, { found: { ...found, path, module }, head }) : undefined;
  await noteLast(module, worktree.agentName, work?.commit);
  return { refs: [...kept.refs, ...(work?.refs ?? [])], inner };
}

async function adopt({ home, urlOf, objectFormat }: Level, name: string): Promise<Repository> {
  const url = await urlOf(name);
  if (url === undefined || url.startsWith("-")) throw new Error(`.gitmodules does not say where ${name} comes from`);
  return adoptModule(home, { name, url, objectFormat });
}

/** Without a commit, what the index of the worktree says. */
async function urlIn(own: OwnDir, name: string, commit = ""): Promise<string | undefined> {
  const answer = await own.git(["config", "--blob", `${commit}:.gitmodules`, "--get", `submodule.${name}.url`]);
  return answer.code === 0 ? answer.out.trim() : undefined;
}

interface Seen {
  readonly found: AgentModule;
  readonly seen: Repository;
  readonly pointers: readonly string[];
}

/**
 * Everything an agent's module has under a branch, its stash and HEAD, what it made and left again, and what the agent's
 * commits outside point to.
 * `isOwn`: some of it did not come from the remote, or is pointed to.
 */
async function commitsIn(project: GitProject, { found: { place }, seen, pointers }: Seen) {
  using own = openOwnDir({
    repository: seen,
    scratch: project.scratch,
    head: place.head,
    refs: place.refs,
    objects: "scratch",
    alsoReads: [place.objects],
  });
  const listing = await own.git(["for-each-ref", "--format=%(objectname) %(refname)", "refs/heads/", "refs/stash"]);
  const heads = parseRefs(expectGit(listing, "listing the branches of a submodule").out);
  const parsed = await own.git(["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]);
  const head = parsed.code === 0 ? parsed.out.trim() : undefined;
  const loose = await looseCommits(own, place, { branch: "", held: [head] });
  const named = [...(head === undefined ? [] : [head]), ...heads.map(({ commit }) => commit), ...loose];
  const all = [...new Set([...named, ...pointers])];
  const asked = all.map((oid) => `${oid}\n`).join("");
  const checked = expectGit(await own.git(["cat-file", "--batch-check"], { stdin: asked }), "looking for commits").out;
  const there = new Set([...checked.matchAll(/^([0-9a-f]+) commit /gm)].map(([, oid = ""]) => oid));
  const commits = all.filter((oid) => there.has(oid));
  const isPointedTo = pointers.some((oid) => there.has(oid));
  return { commits, head, isOwn: isPointedTo || (await areNew(own, commits, ["--remotes", "--tags"])) };
}

async function areNew(own: OwnDir, commits: readonly string[], known: readonly string[]): Promise<boolean> {
  if (commits.length === 0) return false;
  const stdin = commits.map((oid) => `${oid}\n`).join("");
  const answer = await own.git(["rev-list", "--max-count=1", "--stdin", "--not", ...known], { stdin });
  return expectGit(answer, "comparing commits").out !== "";
}

interface Commits {
  readonly agentName: string;
  /** The objects of the agent's module and of the user's, with the refs of the user's. */
  readonly both: OwnDir;
  readonly commits: readonly string[];
}

interface KeptCommits {
  readonly refs: readonly string[];
  /** Commits under those refs, and the known ones that they are based on. */
  readonly tips: readonly string[];
  readonly known: readonly string[];
}

/** Copies what no ref of the user's module holds. Refs that the new ones make needless go. */
async function keepCommits(project: GitProject, { agentName, both, commits }: Commits): Promise<KeptCommits> {
  if (commits.length === 0) return { refs: [], tips: [], known: [] };
  const stdin = commits.map((oid) => `${oid}\n`).join("");
  const listed = await both.git(["rev-list", "--parents", "--stdin", "--not", "--all"], { stdin });
  const lines = expectGit(listed, "comparing commits")
    .out.split("\n")
    .filter((line) => line !== "");
  const fresh = new Set(lines.map((line) => line.split(" ", 1)[0] ?? ""));
  const parents = new Set(lines.flatMap((line) => line.split(" ").slice(1)));
  const tips = commits.filter((oid) => fresh.has(oid) && !parents.has(oid));
  const known = [...parents].filter((oid) => !fresh.has(oid));
  if (tips.length === 0) return { refs: [], tips, known };
  await transfer(project, both, { wants: tips, haves: known });
  const prefix = agentRefs(agentName);
  const set = tips.map((commit): Ref => ({ name: `${prefix}${commit}`, commit }));
  const drop = (await moduleRefs(project.repository, prefix)).filter(
    ({ name, commit }) => name === `${prefix}${commit}` && parents.has(commit),
  );
  await changeModuleRefs(project.repository, { set, drop });
  return { refs: set.map(({ name }) => name), tips, known };
}

/**
 * Keeps the files as a commit on top of HEAD. The same files make the same ref. Undefined: the files cannot be kept.
 */
async function keepWork(
  project: GitProject,
  worktree: OwnedWorktree,
  { found, head }: { readonly found: CheckedOut; readonly head: string | undefined },
): Promise<{ readonly refs: readonly string[]; readonly commit: string } | undefined> {
  const { module } = found;
  const owned = { ...ownedModule(worktree, found), baseCommit: head ?? null };
  const saved = await saveWork(moduleAsProject(project, found), owned, "bytes");
  if (saved === undefined || saved.commit === head) return undefined;
  using own = openRefs(module, project.scratch);
  const tree = expectGit(await own.git(["rev-parse", `${saved.commit}^{tree}`]), "the tree of a snapshot").out.trim();
  const name = `${agentRefs(worktree.agentName)}work/${head?.slice(0, 16) ?? "none"}-${tree}`;
  const [known] = await moduleRefs(module, name);
  if (known !== undefined) return { refs: [], commit: known.commit };
  await changeModuleRefs(module, { set: [{ name, commit: saved.commit }] });
  return { refs: [name], commit: saved.commit };
}

/** Records which kept work is the newest: only that is put back. */
async function noteLast(module: Repository, agentName: string, commit: string | undefined): Promise<void> {
  const name = lastWorkRef(agentName);
  const known = mayHave(module.commonDir, name) ? await moduleRefs(module, name) : [];
  if (commit === undefined) await changeModuleRefs(module, { drop: known });
  else if (known[0]?.commit !== commit) await changeModuleRefs(module, { set: [{ name, commit }] });
}

/** Commits of submodules that the commits of an agent, and what it staged, bring in. */
async function pointersOf({ own, head }: OpenWorktree, base: string | null): Promise<readonly string[]> {
  if (head === undefined) return [];
  const staged = await own.git(["diff-index", "--cached", "--raw", "--no-abbrev", "--no-renames", head]);
  const committed = await pointersIn(own, [head], base === null ? [] : [base]);
  return [...committed, ...gitlinksIn(expectGit(staged, "looking for staged submodules").out)];
}

async function pointersIn(own: OwnDir, tips: readonly string[], known: readonly string[]): Promise<readonly string[]> {
  if (tips.length === 0) return [];
  const stdin = [...tips, ...known.map((oid) => `^${oid}`)].map((line) => `${line}\n`).join("");
  const args = ["log", "-m", "--raw", "--no-abbrev", "--no-renames", "--format=", "--stdin"];
  const answer = expectGit(await own.git(args, { stdin }), "looking for changed submodules");
  return gitlinksIn(answer.out);
}

const gitlinksIn = (raw: string): readonly string[] => [
  ...new Set([...raw.matchAll(gitlinks)].map(([, oid = ""]) => oid)),
];

const gitlinks = /^:\d+ 160000 [0-9a-f]+ ([0-9a-f]+) /gm;

/**
 * Makes the user's module of a submodule that an agent added, empty, where `git submodule update --init` will look for
 * it. Its remote is what `.gitmodules` says, never what the agent's copy is configured to.
 */
async function adoptModule(
  home: ModuleHome,
  { name, url, objectFormat }: { readonly name: string; readonly url: string; readonly objectFormat: string },
): Promise<Repository> {
  const [gitDir = ""] = home.gitDirs;
  const dir = join(gitDir, "modules", name);
  if (existsSync(dir)) return openModule(dir);
  for (let outer = dirname(dir); outer.length > join(gitDir, "modules").length; outer = dirname(outer)) {
    if (isRepository(outer)) throw new Error(`its name ${name} lies inside that of another submodule`);
  }
  const building = join(gitDir, "modules.preparing", name);
  rmSync(building, { recursive: true, force: true });
  makeGitDirectories(building);
  const remote = await absoluteUrl(url, home.workTree);
  const settings = [
    ["remote.origin.url", remote],
    ["remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*"],
  ] as const;
  writeFileSync(join(building, "config"), configText({ objectFormat }, settings));
  writeFileSync(join(building, "HEAD"), "ref: refs/heads/main\n");
  mkdirSync(dirname(dir), { recursive: true });
  renameSync(building, dir);
  rmSync(join(gitDir, "modules.preparing"), { recursive: true, force: true });
  return openModule(dir);
}

/** As git resolves it: a relative one belongs to the remote of the repository that has the submodule. */
async function absoluteUrl(url: string, workTree: string): Promise<string> {
  if (!/^\.\.?\//.test(url)) return url;
  const answer = existsSync(workTree)
    ? await runGit({ cwd: workTree, args: ["config", "--get", "remote.origin.url"] })
    : undefined;
  let base = (answer?.code === 0 ? answer.out.trim() : workTree).replace(/\/+$/, "");
  let rest = url;
  for (;;) {
    if (rest.startsWith("./")) rest = rest.slice(2);
    else if (rest.startsWith("../")) {
      rest = rest.slice(3);
      base = base.replace(/[/:][^/:]*$/, "");
    } else return `${base}/${rest}`;
  }
}
