import { existsSync, realpathSync } from "node:fs";
import { relative } from "node:path";
import { invalid, type Refusal } from "../domain/refusal.ts";
import { no, ok, type Result } from "../domain/result.ts";
import type {
  ConfigChange,
  ConfigKey,
  ConfigSaved,
  Configuration,
  FileSettings,
  WantedSetting,
} from "../ports/settings.ts";
import { keepCopies } from "./compile.ts";
import { setConfigValue, unsetConfigValue } from "./edit.ts";
import { configKeys, type Explanation, explain, listConfig } from "./explain.ts";
import { emptied, type Loaded, loadConfig } from "./load.ts";
import { type ConfigProblem, type Layer, unusableConfig } from "./problem.ts";
import { asWritten } from "./read.ts";
import { type Config, table } from "./schema.ts";
import { type ConfigFiles, type Environment, fileInForce } from "./sources.ts";

export interface ConfigurationTerms {
  readonly files: ConfigFiles;
  readonly env: Environment;
  readonly texts: TextFiles;
  /** The key was set; these are the settings that count now. */
  readonly onSet: (key: string, config: Config) => Promise<void>;
}

/** How files are written so that a reader sees the old or the new text and no edit is lost. */
export interface TextFiles {
  readonly textIfAny: (path: string) => string;
  readonly createFile: (path: string, text: string) => boolean;
  readonly replaceFile: (
    path: string,
    replacement: {
      readonly bytes: string;
      readonly accept: (draft: string) => Promise<boolean>;
      readonly madeFrom: string;
    },
  ) => Promise<boolean>;
}

export function makeConfiguration(terms: ConfigurationTerms): Configuration {
  const { files, env, onSet } = terms;
  const { root } = files;
  const load = (): Promise<Loaded> => loadConfig(files, env);
  return {
    isWritten: () => existsSync(files.project),
    asWritten: (key, value) => asWritten(table[key], value),
    ofFiles: async (options) => {
      const { config, ok: usable, problems, origins } = await loadConfig(files, {});
      if (!usable && options?.evenBroken !== true) throw unusableConfig(files.project, problems);
      return { ...config, gatesFrom: gateFiles[origins["project.qualityGates"]?.layer ?? "default"] };
    },
    list: async (section) => listConfig(await load(), section).map((each) => shownKey(root, each)),
    sections,
    explain: async (key) => {
      const found = explain(key, await load());
      return found.ok ? ok(shownKey(root, found.value)) : found;
    },
    get: async (key) => {
      const loaded = await load();
      const found = explain(key, loaded);
      if (!found.ok) return found;
      if (!loaded.ok) throw unusableConfig(files.project, loaded.problems);
      return ok(found.value.value);
    },
    problems: async () => {
      const loaded = await load();
      const { problems, warnings, runtimeFiles } = loaded;
      const shown = (list: readonly ConfigProblem[]): ConfigProblem[] =>
        list.map((problem) => ({ ...problem, file: shownFile(root, problem.file) }));
      return {
        problems: [...shown(problems), ...runtimeFiles.broken],
        warnings: shown(warnings),
        runtimes: [...runtimeFiles.specs, ...runtimeFiles.broken].map(({ id }) => id),
      };
    },
    file: ({ local }) => {
      const layer = local ? "local" : "project";
      return { file: relative(root, files[layer]), text: terms.texts.textIfAny(fileInForce(files, layer)) };
    },
    save,
    set: (key, typed, { local }) => {
      const edit = (text: string, file: string) => setConfigValue(text, key, typed, file);
      return change({ key, typed, layer: local ? "local" : "project", edit });
    },
    unset: (key, { local }) => {
      const edit = (text: string, file: string) => unsetConfigValue(text, key, file);
      return change({ key, typed: "", layer: local ? "local" : "project", edit });
    },
  };

  async function save(
    wanted: readonly WantedSetting[],
    { local, seen }: { readonly local: boolean; readonly seen: string },
  ): Promise<Result<ConfigSaved, Refusal>> {
    const layer = local ? "local" : "project";
    const edit: Edit["edit"] = async (text, file) => {
      let edited = text;
      for (const { key, value } of wanted) {
        const next = await (value === null
          ? unsetConfigValue(edited, key, file)
          : setConfigValue(edited, key, value, file));
        if (!next.ok) return next;
        edited = next.value;
      }
      return ok(edited);
    };
    const typed = wanted.map(({ value }) => value ?? "").join(", ");
    const written = await write(terms, { key: wanted[0]?.key ?? "", typed, layer, edit, seen });
    if (!written.ok) return written;
    keepCopies(files);
    const loaded = await load();
    const keys: ConfigKey[] = [];
    for (const { key } of wanted) {
      if (loaded.ok) await onSet(key, loaded.config);
      const after = explain(key, loaded);
      if (after.ok) keys.push(shownKey(root, after.value));
    }
    return ok({ file: relative(root, files[layer]), isWritten: written.value, keys });
  }

  async function change(edit: Edit): Promise<Result<ConfigChange, Refusal>> {
    const { key, layer } = edit;
    const before = explain(key, await load());
    if (!before.ok) return before;
    const written = await write(terms, edit);
    if (!written.ok) return written;
    // Copies the files at once: the user may switch branches before another command reads them.
    keepCopies(files);
    const loaded = await load();
    if (loaded.ok) await onSet(key, loaded.config);
    const after = explain(key, loaded);
    if (!after.ok) return after;
    return ok({
      file: relative(root, files[layer]),
      isWritten: written.value,
      before: before.value.value,
      after: shownKey(root, after.value),
      inForce: after.value.origin.layer === layer,
    });
  }
}

const gateFiles: Readonly<Record<Layer, FileSettings["gatesFrom"]>> = {
  default: undefined,
  project: "config.yaml",
  local: "config.local.yaml",
  environment: undefined,
};

function shownKey(root: string, { origin, ...rest }: Explanation): ConfigKey {
  const { layer, file, line } = origin;
  const where = layer === "default" ? layer : shownFile(root, file);
  return { ...rest, origin: line > 0 ? `${where}:${line}` : where };
}

/** A variable's name is no path. */
const shownFile = (root: string, file: string): string => (file.startsWith("/") ? relative(root, file) : file);

function sections(): ReadonlySet<string> {
  const known = new Set<string>();
  for (const key of configKeys()) {
    const parts = key.split(".");
    for (let depth = 1; depth <= parts.length; depth++) known.add(parts.slice(0, depth).join("."));
  }
  return known;
}

interface Edit {
  readonly key: string;
  readonly typed: string;
  readonly layer: "project" | "local";
  readonly edit: (text: string, file: string) => Promise<Result<string, readonly ConfigProblem[]>>;
  /** The text that the caller has seen. The edit is refused when the file says something else by now. */
  readonly seen?: string;
}

/** False when the file says so already. */
async function write(
  { files, env, texts }: ConfigurationTerms,
  { key, typed, layer, edit, seen }: Edit,
): Promise<Result<boolean, Refusal>> {
  const { textIfAny, createFile, replaceFile } = texts;
  // What counts here so far must not be lost because another branch is checked out.
  if (fileInForce(files, layer) !== files[layer]) createFile(files[layer], textIfAny(files.lastKnown[layer]));
  const lost = emptied(files, layer);
  if (lost.length > 0) throw unusableConfig(files[layer], lost);
  const file = existsSync(files[layer]) ? realpathSync(files[layer]) : files[layer];
  for (let attempt = 0; attempt < patience; attempt++) {
    const text = textIfAny(file);
    if (seen !== undefined && text !== seen) return no({ kind: "changed-outside", file: shownFile(files.root, file) });
    const edited = await edit(text, file);
    if (!edited.ok) return no(refusalOf(key, typed, edited.refusal));
    if (edited.value === text) return ok(false);
    const before = await loadConfig(files, env);
    let fresh: readonly ConfigProblem[] = [];
    const accept = async (draft: string): Promise<boolean> => {
      const after = await loadConfig({ ...files, [layer]: draft }, env);
      fresh = after.problems.filter((problem) => !before.problems.some((known) => isSame(known, problem)));
      return fresh.length === 0;
    };
    const bytes = edited.value.trim() === "" ? noSettings : edited.value;
    if (await replaceFile(file, { bytes, accept, madeFrom: text })) return ok(true);
    if (fresh.length > 0) return no(refusalOf(key, typed, fresh));
    // Another program edited the file meanwhile. Its change must not be undone, so the edit is made once more.
  }
  return no({ kind: "busy", what: file });
}

/** An empty file counts as lost. */
const noSettings = "# Everything has its default.\n";

/** Edits are rare and typed by hand; losing this race more often than that means something writes in a loop. */
const patience = 5;

const isSame = (a: ConfigProblem, b: ConfigProblem): boolean => a.key === b.key && a.message === b.message;

/** The refusal of a value: the words of the first problem, then those of the others. */
function refusalOf(key: string, typed: string, problems: readonly ConfigProblem[]): Refusal {
  const [first, ...more] = problems;
  if (first === undefined) return invalid(key, "cannot be set", { value: typed });
  if (first.key === "") throw unusableConfig(first.file, problems);
  const problem = [first.message, ...more.map((other) => `${other.key} ${other.message}`)].join("; ");
  return invalid(first.key, problem, first.nearest === undefined ? {} : { nearest: first.nearest });
}
