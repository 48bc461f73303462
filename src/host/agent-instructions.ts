import { existsSync, mkdirSync, readFileSync, realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { WorktreeKind } from "../domain/agent/agent.ts";
import { failureOf } from "../domain/failure.ts";
import type { GuardPolicy } from "../domain/guard/policy.ts";
import type { ProjectPlace } from "../domain/project/place.ts";
import { type Assignment, instructionMark, type ProjectTerms } from "../domain/role/assignment.ts";
import { type RoleText, shortHash } from "../domain/role/override.ts";
import { renderInstructions } from "../domain/role/render/overlay.ts";
import { renderPrompt } from "../domain/role/render/prompt.ts";
import type { RoleSpec } from "../domain/role/role-spec.ts";
import { roleOf } from "../domain/role/roles.ts";
import type { InstructionRequest, Instructions, PlacedInstructions } from "../ports/instructions.ts";
import type { GuardCommand } from "../ports/runtime.ts";
import type { Settings } from "../ports/settings.ts";
import { lstatIfThere, readText, writeAtomically } from "./file-access.ts";
import { randomIds } from "./ids.ts";
import { specDirs, specNow } from "./project-files.ts";
import { type BuiltInTexts, givenInstructions, keptPrompt, readRoleText, roleTextDir, termsOf } from "./role-texts.ts";
import { rulesFile } from "./tool-guard.ts";

export interface InstructionTerms extends ProjectPlace {
  readonly settings: Pick<Settings, "project" | "agents">;
  readonly builtIn: BuiltInTexts;
  /** The rules by which the tools of an agent are guarded. */
  readonly policyOf: (role: RoleSpec, agent: Assignment["agent"], kind: WorktreeKind) => GuardPolicy;
  /** How this very program is started. */
  readonly self: readonly string[];
  /** Puts this `ov` first on the PATH of agents. */
  readonly placeProgram: () => void;
}

/** Instructions from the texts and settings of a project. */
export const agentInstructions = (terms: InstructionTerms): Instructions => ({
  place: (request) => place(terms, request),
});

function place(project: InstructionTerms, request: InstructionRequest): PlacedInstructions {
  const { given, worktreeKind, instructionFile, untouched } = request;
  const { agent } = given;
  const { root, state, settings, builtIn } = project;
  const terms = termsOf(settings, instructionFile);
  const role = roleOf(agent.capability);
  const own = readRoleText(builtIn, roleTextDir(root, settings), role.capability);
  const { prompt, problem } = promptOf(role, own, terms, builtIn);
  const version = `${role.capability}@${shortHash(randomIds.digest(prompt))}`;
  const policy = project.policyOf(role, agent, worktreeKind);
  const text = renderInstructions(prompt, withSpec(project, given), { ...terms, runsAnything: policy.runsAnything });
  const file = givenInstructions(state, agent.name);
  project.placeProgram();
  writeAtomically(keptPrompt(state, version), `${prompt}\n`, 0o600);
  writeAtomically(file, text, 0o600);
  const worktree = agent.worktreePath;
  const found =
    worktreeKind !== "root" && worktree !== null && placeIgnored({ worktree, file: instructionFile, text, untouched });
  return {
    version,
    text,
    hash: randomIds.digest(text),
    file,
    found,
    guard: placeGuard(project, policy),
    problem,
  };
}

/** With the text of its task's spec; without one that cannot be read, of which the agent is told the place. */
function withSpec({ root, state }: InstructionTerms, given: Assignment): Assignment {
  const { taskId } = given.agent;
  if (taskId === null) return given;
  try {
    return { ...given, spec: specNow(specDirs(root, state), taskId, given.specDigest) };
  } catch (error) {
    if (failureOf(error).kind === "unexpected") throw error;
    return given;
  }
}

/** Rules rarely change, and a guard may be reading them: a file with the same rules is not written again. */
function placeGuard({ state, self }: InstructionTerms, policy: GuardPolicy): GuardCommand | null {
  const file = rulesFile(state, policy.agent);
  const text = JSON.stringify(policy);
  // Written without a guard too: a question by the agent's name then finds the rules that count.
  if (readText(file) !== text) writeAtomically(file, text, 0o600);
  return policy.off ? null : { program: self, rules: file, digest: randomIds.digest(text) };
}

/** A text of the project's own that cannot be rendered must not keep an agent from working. */
function promptOf(
  role: RoleSpec,
  own: RoleText,
  terms: ProjectTerms,
  builtIn: BuiltInTexts,
): { readonly prompt: string; readonly problem: string | null } {
  const wanted = renderPrompt(role, own.text, terms);
  if (wanted.ok) return { prompt: wanted.value, problem: null };
  const shipped = renderPrompt(role, builtIn[role.capability], terms);
  const names = wanted.refusal.unknown.map((name) => `{{${name}}}`).join(", ");
  if (!shipped.ok) throw new Error(`the text of ${role.capability} has unknown placeholders`);
  return { prompt: shipped.value, problem: `the project's text of ${role.capability} has unknown ${names}` };
}

interface WorktreeFile {
  readonly worktree: string;
  /** Relative to the worktree. */
  readonly file: string;
  readonly text: string;
  /** No turn has run in the worktree yet, so no agent can have deleted a missing file. */
  readonly untouched: boolean;
}

/**
 * Puts a file of ours into an agent's worktree so that no commit picks it up: a `.gitignore` beside it names both. Git's
 * own list of exclusions would not do, for all worktrees share it with the user's checkout. False when it cannot be done
 * without touching what is not ours; nothing is changed then.
 */
export function placeIgnored({ worktree, file, text, untouched }: WorktreeFile): boolean {
  const path = join(worktree, file);
  const dir = dirname(path);
  const ignore = join(dir, ".gitignore");
  // At the top the project has a `.gitignore` of its own, or may get one.
  if (dir === worktree || leadsOut(worktree, dir) || isInTheWay(worktree, dir)) return false;
  const rules = `${ignoreMark}\n/.gitignore\n/${basename(path)}\n`;
  const known = textOf(ignore);
  const ours = known?.startsWith(ignoreMark) === true;
  if (known !== undefined && !ours) return false;
  const before = textOf(path);
  const free = before === undefined ? ours || untouched : before.startsWith(instructionMark);
  if (!free) return false;
  mkdirSync(dir, { recursive: true });
  if (known !== rules) writeAtomically(ignore, rules);
  if (before !== text) writeAtomically(path, text);
  return true;
}

/** The paths that `placeIgnored` writes for an instruction file. */
export const placedPaths = (file: string): readonly string[] =>
  dirname(file) === "." ? [] : [file, join(dirname(file), ".gitignore")];

const ignoreMark = "# Written by overstory for the agent that works here; no part of the project.";

/** The text of a file; undefined when the path is free. A directory or link is not ours and counts as other text. */
function textOf(path: string): string | undefined {
  const stat = lstatIfThere(path);
  if (stat === undefined) return undefined;
  return stat.isFile() ? readFileSync(path, "utf8") : "";
}

/** A file or link has the name of a directory that we need. */
function isInTheWay(worktree: string, dir: string): boolean {
  if (dir === worktree) return false;
  const there = lstatIfThere(dir);
  return there === undefined ? isInTheWay(worktree, dirname(dir)) : !there.isDirectory();
}

/** A link among the directories would take the file somewhere else. */
function leadsOut(worktree: string, dir: string): boolean {
  let there = dir;
  while (!existsSync(there) && there !== worktree) there = dirname(there);
  const home = realpathSync(worktree);
  const real = realpathSync(there);
  return real !== home && !real.startsWith(`${home}/`);
}
