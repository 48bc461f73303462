import { readFileSync, realpathSync } from "node:fs";
import { join, relative } from "node:path";
import { Failure } from "../../domain/failure.ts";
import { generatedState, isKept } from "../../domain/project/generated-state.ts";
import { sealedGuide } from "../../domain/project/generated-texts.ts";
import { begin, sectionIn, withSection } from "../../domain/project/section.ts";
import { errorCode, lstatIfThere, readText, statIfThere } from "../file-access.ts";
import { git } from "../git/git.ts";
import { randomIds } from "../ids.ts";
import { replaceFile } from "./files.ts";

export type InstructionEdit =
  | {
      readonly kind: "written" | "unchanged";
      /** The file that really holds the section, relative to the root: a link is followed. */
      readonly path: string;
      /** The file holds nothing but our section. */
      readonly ours: boolean;
    }
  | { readonly kind: "left-alone"; readonly why: string };

export interface PutGuide {
  /** What to do about a section that a person has changed by hand. */
  readonly edited: "keep" | "replace";
}

/** Sees to it that the instruction file at the root has our section; everything else in it stays byte for byte. */
export async function putGuide(root: string, name: string, options: PutGuide): Promise<InstructionEdit> {
  try {
    return await put(root, name, options);
  } catch (error) {
    const code = errorCode(error instanceof Failure ? error.cause : error);
    if (code === undefined) throw error;
    // The project works without the section. So a section that cannot be written is a warning, not a failure.
    return { kind: "left-alone", why: `it cannot be written (${code})` };
  }
}

async function put(root: string, name: string, { edited }: PutGuide): Promise<InstructionEdit> {
  const found = locate(root, name);
  if ("why" in found) return { kind: "left-alone", why: found.why };
  const { path, exists } = found;
  if (!exists && (await isLeftOut(root, name))) {
    return {
      kind: "left-alone",
      why: `a sparse checkout leaves it out (git sparse-checkout add /${name}, then ov init)`,
    };
  }
  // One character per byte and back, for every encoding; the section itself is ASCII.
  const before = exists ? readFileSync(path, "latin1") : undefined;
  const guide = sealedGuide(randomIds.digest);
  if (edited === "keep" && isEdited(before, guide)) {
    return { kind: "left-alone", why: "our section in it was changed by hand (ov update --force replaces it)" };
  }
  const edit = withSection(before, guide);
  if (edit.kind === "broken") {
    return { kind: "left-alone", why: "its marks overstory:begin and overstory:end are not one pair" };
  }
  const alone = withSection(undefined, guide);
  const after = edit.kind === "changed" ? edit.text : before;
  const place = { path: relative(realpathSync(root), path), ours: alone.kind === "changed" && alone.text === after };
  if (edit.kind === "same") return { kind: "unchanged", ...place };
  await replaceFile(path, { bytes: Buffer.from(edit.text, "latin1") });
  return { kind: "written", ...place };
}

/** Does git track a file here that a sparse checkout leaves out? A file that is written there would take its place. */
export async function isLeftOut(root: string, path: string): Promise<boolean> {
  const { out } = await git(root, "ls-files", "-t", "--", `:(literal)${path}`);
  return out.startsWith("S ");
}

function isEdited(text: string | undefined, ships: string): boolean {
  const section = text === undefined ? "none" : sectionIn(text);
  if (typeof section === "string") return false;
  return isKept(generatedState({ found: section.body, ships }, randomIds.digest));
}

export type GuideFound =
  | { readonly kind: "none" }
  | {
      readonly kind: "there";
      /** The file that really holds it, relative to the root. */
      readonly path: string;
      readonly body: string;
    }
  | { readonly kind: "broken"; readonly path: string };

/** Our section as it stands in the instruction file at the root; writes nothing. A file we never write to has none. */
export function readGuide(root: string, name: string): GuideFound {
  const found = locate(root, name);
  if ("why" in found || !found.exists) return { kind: "none" };
  const path = relative(realpathSync(root), found.path);
  const section = sectionIn(readFileSync(found.path, "latin1"));
  if (section === "none") return { kind: "none" };
  return section === "broken" ? { kind: "broken", path } : { kind: "there", path, body: section.body };
}

type Located = { readonly path: string; readonly exists: boolean } | { readonly why: string };

/**
 * The file to write: of a link its destination, unless that is not ours to touch. Writing to the link would put a file
 * in its place.
 */
function locate(root: string, name: string): Located {
  const named = join(realpathSync(root), name);
  if (lstatIfThere(named) === undefined) return { path: named, exists: false };
  const target = statIfThere(named);
  if (target === undefined) return { why: "it is a link that leads nowhere" };
  if (!target.isFile()) return { why: "it is not a file" };
  const path = realpathSync(named);
  if (/^\.\.(\/|$)/.test(relative(realpathSync(root), path)))
    return { why: "it is a link to a file outside the project" };
  return { path, exists: true };
}

/** A coding-agent program people install, the runtime that drives it, and the file it reads at the top of a project. */
interface CodingAgent {
  readonly program: string;
  readonly runtime: string;
  readonly instructionFile: string;
}

/** In order of preference where several are installed. */
const codingAgents: readonly CodingAgent[] = [
  { program: "claude", runtime: "claude", instructionFile: "CLAUDE.md" },
  { program: "codex", runtime: "codex", instructionFile: "AGENTS.md" },
  { program: "gemini", runtime: "gemini", instructionFile: "GEMINI.md" },
  { program: "opencode", runtime: "opencode", instructionFile: "AGENTS.md" },
  { program: "copilot", runtime: "copilot", instructionFile: "AGENTS.md" },
  { program: "pi", runtime: "pi", instructionFile: "AGENTS.md" },
  { program: "cursor-agent", runtime: "cursor", instructionFile: "AGENTS.md" },
];

/** Coding agents on PATH, by the name of their runtime. */
export function installedRuntimes(path: string | undefined): readonly string[] {
  return codingAgents
    .filter(({ program }) => Bun.which(program, { PATH: path ?? "" }) !== null)
    .map(({ runtime }) => runtime);
}

/**
 * The file that a person's own session reads: the one that has our section already, else that of the first coding agent
 * they have, which need not be one that we can drive, else that of the project's runtime.
 */
export function instructionFileOf({
  root,
  path,
  runtime,
}: {
  root: string;
  path: string | undefined;
  runtime: string;
}): string {
  const files = new Set(codingAgents.map(({ instructionFile }) => instructionFile));
  const isFile = (name: string): boolean => statIfThere(join(root, name))?.isFile() === true;
  const marked = [...files].find((name) => isFile(name) && readText(join(root, name))?.includes(begin) === true);
  if (marked !== undefined) return marked;
  const [own = runtime] = installedRuntimes(path);
  // What programs without a file of their own agree on.
  return codingAgents.find((agent) => agent.runtime === own)?.instructionFile ?? "AGENTS.md";
}
