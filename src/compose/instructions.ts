import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { Assignment, ProjectTerms } from "../domain/role/assignment.ts";
import { type RoleText, shortHash } from "../domain/role/override.ts";
import { renderInstructions } from "../domain/role/render/overlay.ts";
import { renderPrompt } from "../domain/role/render/prompt.ts";
import type { RoleSpec } from "../domain/role/role-spec.ts";
import { roleOf } from "../domain/role/roles.ts";
import { writeAtomically } from "../host/atomic-file.ts";
import { randomIds } from "../host/ids.ts";
import { placeIgnored } from "../host/instruction-files.ts";
import { givenInstructions, keptPrompt, readRoleText } from "../host/role-texts.ts";
import type { InstructionRequest, Instructions, PlacedInstructions } from "../ports/instructions.ts";
import type { GuardCommand } from "../ports/runtime.ts";
import { policyOf } from "./agent-guard.ts";
import { placeOvShim } from "./ov-shim.ts";
import type { Project } from "./project.ts";
import { builtInTexts } from "./role-texts.ts";
import { rulesFile } from "./rules-file.ts";
import { selfCommand } from "./self.ts";

/** Instructions from the texts and settings of this project. */
export const projectInstructions = (project: Project): Instructions => ({
  place: (request) => place(project, request),
});

/** The directory of the project's own role texts. */
export const roleTextDir = ({ root, config }: Pick<Project, "root" | "config">): string =>
  resolve(root, config.agents.baseDir);

/** What is true for every agent of the project. Nothing here keeps expertise yet. */
export const termsOf = ({ config }: Pick<Project, "config">, instructionFile: string): ProjectTerms => ({
  gates: config.project.qualityGates,
  instructionFile,
  maxAgentsPerLead: config.agents.maxAgentsPerLead,
  expertise: false,
});

function place(project: Project, request: InstructionRequest): PlacedInstructions {
  const { given, worktreeKind, instructionFile, untouched } = request;
  const { agent } = given;
  const terms = termsOf(project, instructionFile);
  const role = roleOf(agent.capability);
  const { prompt, problem } = promptOf(role, readRoleText(builtInTexts, roleTextDir(project), role.capability), terms);
  const version = `${role.capability}@${shortHash(randomIds.digest(prompt))}`;
  const text = renderInstructions(prompt, given, terms);
  const file = givenInstructions(project.dir, agent.name);
  placeOvShim(project);
  writeAtomically(keptPrompt(project.dir, version), `${prompt}\n`, 0o600);
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
    guard: placeGuard(project, role, given),
    problem,
  };
}

/** They rarely change, and a guard may be reading them: what is there already is not written again. */
function placeGuard(project: Project, role: RoleSpec, { agent }: Assignment): GuardCommand {
  const file = rulesFile(project.dir, agent.name);
  const text = JSON.stringify(policyOf(project, role, agent));
  if (!existsSync(file) || readFileSync(file, "utf8") !== text) writeAtomically(file, text, 0o600);
  return { program: selfCommand(), rules: file, digest: randomIds.digest(text) };
}

/** A text of the project's own that cannot be rendered must not keep an agent from working. */
function promptOf(
  role: RoleSpec,
  own: RoleText,
  terms: ProjectTerms,
): { readonly prompt: string; readonly problem: string | null } {
  const wanted = renderPrompt(role, own.text, terms);
  if (wanted.ok) return { prompt: wanted.value, problem: null };
  const shipped = renderPrompt(role, builtInTexts[role.capability], terms);
  const names = wanted.refusal.unknown.map((name) => `{{${name}}}`).join(", ");
  if (!shipped.ok) throw new Error(`the text of ${role.capability} has unknown placeholders`);
  return { prompt: shipped.value, problem: `the project's text of ${role.capability} has unknown ${names}` };
}
