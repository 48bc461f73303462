import { existsSync, mkdirSync, readFileSync, realpathSync, rmSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { Failure, failureOf } from "../domain/failure.ts";
import type { ProjectPlace } from "../domain/project/place.ts";
import { no, ok } from "../domain/result.ts";
import type { Redact } from "../domain/text/redact.ts";
import type { ProjectFiles, SpecText, TextFiles, TypedFiles } from "../ports/project-files.ts";
import type { HookMemory, HookSettings, HookSettingsFormat } from "../ports/project-setup.ts";
import type { JudgingValues, KnownSettings } from "../ports/settings.ts";
import {
  errorCode,
  isBehindLink,
  isTakenPlace,
  lstatIfThere,
  makeWithin,
  readBytes,
  readText,
  statIfThere,
  writable,
  writeAtomically,
} from "./file-access.ts";
import { randomIds } from "./ids.ts";
import { lacksBranch, sharedDir } from "./project-place.ts";

interface ProjectFilesTerms {
  readonly root: string;
  /** The state directory. */
  readonly dir: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** For the texts that people and agents write to each other. */
  readonly redact?: Redact;
}

/** Files of one project. Blobs are named by their digest, so writing one twice is writing it once. */
export function projectFiles({ root, dir, env = {}, redact = (text) => text }: ProjectFilesTerms): ProjectFiles {
  const specs = specFiles(specDirs(root, dir));
  return {
    writeMailBlob: async (body) => {
      const text = redact(body);
      const path = join(dir, "mail-blobs", `${randomIds.digest(text)}.txt`);
      writable(path, () => writeAtomically(path, text, 0o600));
      return path;
    },
    readMailBlob: async (path) => readText(path),
    ...specs,
    writeSpec: async (taskId, text) => specs.writeSpec(taskId, redact(text)),
    removeEnvironment: async (path) => {
      if (dirname(path) === join(dir, "run", "env")) rmSync(path, { force: true });
    },
    writeEnvironment: async (values) => {
      const captured = join(dir, "run", "env");
      const path = join(captured, `${randomIds.next("env")}.json`);
      writable(path, () => {
        mkdirSync(captured, { recursive: true, mode: 0o700 });
        writeAtomically(path, JSON.stringify(values), 0o600);
      });
      return path;
    },
    readEnvironment: async (path) => {
      const text = readText(path);
      return text === undefined ? undefined : (JSON.parse(text) as Record<string, string>);
    },
    // An agent's sandbox may hide the repository's refs.
    lacksBranch: (branch) =>
      (env.OVERSTORY_TOKEN ?? "") === "" &&
      (env.OVERSTORY_AGENT_NAME ?? "") === "" &&
      lacksBranch(dirname(dir), branch),
  };
}

/**
 * Specifications of tasks. Every text lies under its digest in the state directory, so that the database can name a
 * text before it counts; `<task>.md` in the checkout is the copy for people and tools.
 */
export function specFiles(dirs: SpecDirs): Pick<ProjectFiles, "writeSpec" | "readSpec"> {
  const given = (digest: string): string => join(dirs.given, `${digest}.md`);
  return {
    writeSpec: async (taskId, text) => {
      const digest = randomIds.digest(text);
      const path = given(digest);
      writable(path, () => writeAtomically(path, text, 0o600));
      return { path: readableSpec(dirs, taskId), digest };
    },
    readSpec: async (taskId, digest) => {
      const found = specNow(dirs, taskId, digest);
      // Where a link has the place of the directory, nothing is written behind it.
      if (found?.isShown === false && !isBehindLink(dirname(dirs.shown), dirs.shown)) renew(found.path, found.text);
      return found === undefined ? undefined : { path: found.path, text: found.text, byHand: found.byHand };
    },
  };
}

interface SpecDirs {
  readonly shown: string;
  readonly given: string;
}

/** Where the specifications of a project are, by its root and its state directory. */
export const specDirs = (root: string, state: string): SpecDirs => ({
  shown: join(sharedDir(root), "specs"),
  given: join(state, "specs", ".content"),
});

const readableSpec = (dirs: SpecDirs, taskId: string): string => join(dirs.shown, `${taskId}.md`);

/** The text that counts, changing nothing. Not `isShown`: the copy for people is missing or older. */
export function specNow(
  dirs: SpecDirs,
  taskId: string,
  digest: string | null,
): (SpecText & { readonly isShown: boolean }) | undefined {
  const path = readableSpec(dirs, taskId);
  // A branch may bring a symbolic link to a file that its author may not read.
  const shown = lstatIfThere(path)?.isFile() === true ? readText(path) : undefined;
  const shownDigest = shown === undefined ? undefined : randomIds.digest(shown);
  if (shown !== undefined && shownDigest === digest) return { path, text: shown, byHand: false, isShown: true };
  const kept = digest === null ? undefined : join(dirs.given, `${digest}.md`);
  const wanted = kept === undefined ? undefined : readText(kept);
  if (kept === undefined || wanted === undefined)
    return shown === undefined ? undefined : { path, text: shown, byHand: true, isShown: true };
  const strange = shownDigest !== undefined && !existsSync(join(dirs.given, `${shownDigest}.md`));
  if (shown !== undefined && strange && isNewer(path, kept)) return { path, text: shown, byHand: true, isShown: true };
  return { path, text: wanted, byHand: false, isShown: false };
}

/** A person's text counts when it was written after the given text. An older one is the text that was replaced. */
const isNewer = (path: string, than: string): boolean => statSync(path).mtimeMs > statSync(than).mtimeMs;

/** Writes the copy for people. A place that takes no file does not matter: the next reader tries again. */
function renew(path: string, text: string): void {
  try {
    writable(path, () => writeAtomically(path, text));
  } catch (error) {
    if (failureOf(error).kind === "unexpected") throw error;
  }
}

export const typedFiles = (cwd: string): TypedFiles => ({
  absolute: (path) => resolve(cwd, path),
  exists: existsSync,
  remove: (path) => rmSync(path, { recursive: true, force: true }),
});

/** What the shell opened for this command, as `<(...)` and redirections do, ends when its writer ends. */
const isGivenOpen = (path: string): boolean => /^\/(dev\/stdin|dev\/fd\/\d+|proc\/self\/fd\/\d+|dev\/null)$/.test(path);

/** `root` is asked for only when a path of the project is named. */
export const textFiles = (cwd: string, root: () => Promise<string>): TextFiles => ({
  locate: async (path, at) => resolve(at === "project" ? await root() : cwd, path),
  read: (path) => {
    try {
      return ok(isGivenOpen(path) ? readFileSync(path, "utf8") : readText(path));
    } catch (error) {
      const failure = failureOf(error);
      if (failure.kind === "unusable-file") return no(failure.problem);
      const code = errorCode(error);
      if (code === undefined) throw error;
      return code === "ENOENT" ? ok(undefined) : no(code);
    }
  },
  // Loaded with it: the guard, which few commands need.
  realPath: async (path) => (await import("./tool-guard.ts")).realPathOf(path),
  hasDirectory: (path) => existsSync(dirname(path)),
  write: writeAtomically,
});

export function knownSettings(state: string): KnownSettings {
  const file = join(state, "run", "judging.json");
  return {
    read: () => {
      try {
        const text = readText(file);
        return text === undefined ? undefined : (JSON.parse(text) as JudgingValues);
      } catch (error) {
        // Another program wrote over it, so nothing is known.
        if (error instanceof SyntaxError) return undefined;
        throw error;
      }
    },
    write: (values) => {
      makeWithin(join(state, "run"), 1);
      writeAtomically(file, `${JSON.stringify(values)}\n`, 0o600);
    },
  };
}

export function hookSettings({ root, state }: ProjectPlace, format: HookSettingsFormat): HookSettings {
  const file = join(root, format.path);
  const memory = join(state, "run", "hooks-before.json");
  return {
    format,
    read: () => {
      const dir = dirname(file);
      if (isTakenPlace(dir)) {
        return no(`${dir} must be a directory, but is a file or a link that leads to none`);
      }
      if (lstatIfThere(file) === undefined) return ok(undefined);
      try {
        return ok(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(readBytes(file)));
      } catch (error) {
        if (error instanceof Failure) return no(error.message);
        if (error instanceof TypeError) return no("it is not text in UTF-8");
        if (error instanceof Error && "code" in error) return no(`it cannot be read (${error.code})`);
        throw error;
      }
    },
    write: (text) => {
      const there = statIfThere(file);
      const mode = there === undefined ? undefined : there.mode & 0o777;
      writeAtomically(there === undefined ? file : realpathSync(file), text, mode);
    },
    remove: () => rmSync(file, { force: true }),
    recall: () => memoryIn(readText(memory) ?? ""),
    remember: (known) =>
      known === undefined ? rmSync(memory, { force: true }) : writeAtomically(memory, JSON.stringify(known), 0o600),
  };
}

function memoryIn(text: string): HookMemory | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isMemory(value) ? value : undefined;
  } catch (error) {
    // Without it our entries are taken out one by one, and only the spaces around them may differ.
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

const isMemory = (value: unknown): value is HookMemory =>
  typeof value === "object" &&
  value !== null &&
  "before" in value &&
  (value.before === null || typeof value.before === "string") &&
  "after" in value &&
  typeof value.after === "string";
