import { relative } from "node:path";
import { randomIds } from "../host/ids.ts";
import type { PromptFacet } from "../surfaces/cli/facets/prompts.ts";
import { givenInstructions, keptPrompt, roleTextDir, termsOf } from "./instructions.ts";
import type { Project } from "./project.ts";
import { builtInTexts, ownTextFiles, readRoleText, textIfThere } from "./role-texts.ts";
import { runtimeById } from "./runtimes.ts";

/** The role texts as the project at hand sees them. */
export function makePromptFacet(project: Project): PromptFacet {
  const dir = roleTextDir(project);
  const shown = (path: string): string => relative(project.root, path);
  return {
    builtIn: (role) => ({ text: builtInTexts[role], hash: randomIds.digest(builtInTexts[role]) }),
    own: (role) => {
      const { replacement, addition } = ownTextFiles(dir, role);
      return {
        ...readRoleText(dir, role),
        files: { replacement: shown(replacement), addition: shown(addition) },
      };
    },
    terms: () => termsOf(project, runtimeById(project.config.runtime.default)?.instructionFile ?? "AGENTS.md"),
    digest: randomIds.digest,
    kept: (version) => (isVersion.test(version) ? textIfThere(keptPrompt(project.dir, version)) : undefined),
    givenTo: (agent) => (isName.test(agent) ? textIfThere(givenInstructions(project.dir, agent)) : undefined),
  };
}

/** Both become parts of a path. */
const isVersion = /^[a-z]+@[0-9a-f]{12}$/;
const isName = /^[a-z0-9][a-z0-9._-]*$/;
