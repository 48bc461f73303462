import { existsSync, realpathSync } from "node:fs";
import { dirname } from "node:path";
import { keepCopies } from "../config/compile.ts";
import { setConfigValue } from "../config/edit.ts";
import { loadConfig } from "../config/load.ts";
import { type ConfigProblem, unusableConfig } from "../config/problem.ts";
import { type ConfigFiles, type Environment, fileInForce } from "../config/sources.ts";
import { nearest } from "../domain/name/nearest.ts";
import { invalid, type Refusal } from "../domain/refusal.ts";
import { no, ok, type Result } from "../domain/result.ts";
import { git } from "../host/git/git.ts";
import { createFile, replaceFile, textIfAny } from "../host/project/files.ts";
import { currentBranch } from "../host/project/repository.ts";
import { operatorOnly } from "./operator-only.ts";
import { runtimeNames } from "./runtime-names.ts";

type Edit = (
  key: string,
  typed: string,
  options: { readonly local: boolean },
) => Promise<Result<{ readonly file: string }, Refusal>>;

/** Sets single keys. Nothing is written that would give the configuration a problem it does not have now. */
export function makeConfigEditor(files: ConfigFiles, env: Environment): Edit {
  return async (key, typed, { local }) => {
    const refused = await operatorOnly(files.state, env, `set ${key}`);
    if (refused !== undefined) return no(refused);
    const unknown = await unknownValue(files, key, typed.trim());
    if (unknown !== undefined) return no(unknown);
    const layer = local ? "local" : "project";
    // What counts here so far must not be lost because another branch is checked out.
    if (fileInForce(files, layer) !== files[layer]) createFile(files[layer], textIfAny(files.lastKnown[layer]));
    const file = existsSync(files[layer]) ? realpathSync(files[layer]) : files[layer];
    for (let attempt = 0; attempt < patience; attempt++) {
      const text = textIfAny(file);
      const edited = await setConfigValue(text, key, typed, file);
      if (!edited.ok) return no(refusalOf(key, typed, edited.refusal));
      if (edited.value === text) return kept(files, layer);
      const before = await loadConfig(files, env);
      let fresh: readonly ConfigProblem[] = [];
      const accept = async (draft: string): Promise<boolean> => {
        const after = await loadConfig({ ...files, [layer]: draft }, env);
        fresh = after.problems.filter((problem) => !before.problems.some((known) => isSame(known, problem)));
        return fresh.length === 0;
      };
      if (await replaceFile(file, { bytes: edited.value, accept, madeFrom: text })) return kept(files, layer);
      if (fresh.length > 0) return no(refusalOf(key, typed, fresh));
      // Somebody else edited the file meanwhile: their change must not be undone, so all is done once more.
    }
    return no({ kind: "busy", what: file });
  };
}

/** Copies the files at once: the user may switch branches before another command reads them. */
function kept(files: ConfigFiles, layer: "project" | "local"): Result<{ readonly file: string }, Refusal> {
  keepCopies(files);
  return ok({ file: files[layer] });
}

/** A runtime or branch that does not exist has the right form, and everything would fail later because of it. */
async function unknownValue(files: ConfigFiles, key: string, typed: string): Promise<Refusal | undefined> {
  if (typed === "") return undefined;
  if (key === "runtime.default" || key.startsWith("runtime.capabilities.")) {
    if (runtimeNames.some((name) => name === typed)) return undefined;
    const near = nearest(typed, runtimeNames);
    const extra = { value: typed, allowed: runtimeNames, ...(near === undefined ? {} : { nearest: near }) };
    return invalid(key, "is not a runtime of this version", extra);
  }
  if (key !== "project.canonicalBranch") return undefined;
  const root = dirname(dirname(files.project));
  const { code } = await git(root, "rev-parse", "--verify", "--quiet", `refs/heads/${typed}`);
  if (code === 0 || (await currentBranch(root)) === typed) return undefined;
  return invalid(key, "is not a branch of this repository; create it first: git branch <name>", { value: typed });
}

/** Edits are rare and typed by hand; losing this race more often than that means something writes in a loop. */
const patience = 5;

const isSame = (a: ConfigProblem, b: ConfigProblem): boolean => a.key === b.key && a.message === b.message;

/** What is wrong with the value, in the words of the first complaint; the others follow it. */
function refusalOf(key: string, typed: string, problems: readonly ConfigProblem[]): Refusal {
  const [first, ...more] = problems;
  if (first === undefined) return invalid(key, "cannot be set", { value: typed });
  if (first.key === "") throw unusableConfig(first.file, problems);
  const problem = [first.message, ...more.map((other) => `${other.key} ${other.message}`)].join("; ");
  return invalid(first.key, problem, first.nearest === undefined ? {} : { nearest: first.nearest });
}
