import { readFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import type { ProjectPlace } from "../domain/project/place.ts";
import type { ProjectTerms } from "../domain/role/assignment.ts";
import { type RoleText, roleTextFrom } from "../domain/role/override.ts";
import type { Role } from "../domain/role/role-spec.ts";
import type { RoleTexts } from "../ports/instructions.ts";
import type { Settings } from "../ports/settings.ts";
import { statIfThere } from "./file-access.ts";
import { randomIds } from "./ids.ts";

/** The texts that ship, by role. */
export type BuiltInTexts = Readonly<Record<Role, string>>;

export interface RoleTextTerms extends ProjectPlace {
  readonly builtIn: BuiltInTexts;
  readonly settings: Pick<Settings, "project" | "agents">;
  readonly instructionFile: string;
}

export function roleTexts({ root, state, builtIn, settings, instructionFile }: RoleTextTerms): RoleTexts {
  const dir = roleTextDir(root, settings);
  const shown = (path: string): string => relative(root, path);
  return {
    builtIn: (role) => ({ text: builtIn[role], hash: randomIds.digest(builtIn[role]) }),
    own: (role) => {
      const { replacement, addition } = ownTextFiles(dir, role);
      const files = { replacement: shown(replacement), addition: shown(addition) };
      return { ...readRoleText(builtIn, dir, role), files };
    },
    terms: termsOf(settings, instructionFile),
    digest: randomIds.digest,
    kept: (version) => (isVersion.test(version) ? textIfThere(keptPrompt(state, version)) : undefined),
    givenTo: (agent) => (isName.test(agent) ? textIfThere(givenInstructions(state, agent)) : undefined),
  };
}

/** Both become parts of a path. */
const isVersion = /^[a-z]+@[0-9a-f]{12}$/;
const isName = /^[a-z0-9][a-z0-9._-]*$/;

/** The directory of the project's own role texts. */
export const roleTextDir = (root: string, { agents }: Pick<Settings, "agents">): string =>
  resolve(root, agents.baseDir);

/** The facts that hold for every agent of the project. There is no stored expertise yet. */
export const termsOf = (
  { project, agents }: Pick<Settings, "project" | "agents">,
  instructionFile: string,
): ProjectTerms => ({
  gates: project.qualityGates,
  instructionFile,
  maxAgentsPerLead: agents.maxAgentsPerLead,
  expertise: false,
});

/** Where the prompt of a role is kept under its version, so that prompts can be compared later. */
export const keptPrompt = (state: string, version: string): string => join(state, "prompts", `${version}.md`);

/** Where the instructions that an agent was last given lie. */
export const givenInstructions = (state: string, agentName: string): string =>
  join(state, "agents", agentName, "instructions.md");

/** Where a project keeps its own texts of a role. Only people write there. */
export const ownTextFiles = (dir: string, role: Role): { readonly replacement: string; readonly addition: string } => ({
  replacement: `${dir}/${role}.md`,
  addition: `${dir}/${role}.local.md`,
});

/** The text of a role that counts in the project whose texts are in this directory. */
export function readRoleText(texts: BuiltInTexts, dir: string, role: Role): RoleText {
  const builtIn = texts[role];
  const files = ownTextFiles(dir, role);
  return roleTextFrom({
    role,
    builtIn,
    hash: randomIds.digest(builtIn),
    replacement: textIfThere(files.replacement),
    addition: textIfThere(files.addition),
  });
}

/** Undefined when there is no such file. */
const textIfThere = (path: string): string | undefined =>
  statIfThere(path)?.isFile() === true ? readFileSync(path, "utf8") : undefined;
