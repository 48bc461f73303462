import { existsSync, readFileSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import { Failure } from "../../domain/failure.ts";
import {
  commandOf,
  type Filter,
  type FilterProblem,
  type FilterSetting,
  filterKeys,
  filterProblems,
  filtersNamedIn,
  isHonoured,
  judgeFilters,
} from "../../domain/trust/filters.ts";
import { lstatIfThere, statIfThere } from "../file-access.ts";
import { commonDirAt } from "../project-place.ts";
import { readTrust } from "../trust-file.ts";
import { expectGit, git, runGit, zeroEnded } from "./git.ts";
import type { Repository } from "./repository.ts";

/** How files of this repository get from objects into a work tree and back: what plain git would do, as far as we may. */
export interface FileRules {
  /** Every filter that is defined, and every one that attributes outside the tracked files name. */
  readonly filters: readonly Filter[];
  /** Configuration for our own git directory: the filters that may run, and the data that their programs need. */
  readonly settings: readonly (readonly [key: string, value: string])[];
  /** Settings that decide how files look, each with its value. */
  readonly form: readonly string[];
  /** The attributes outside the tracked files, as they were read: the repository's own, and the user's. */
  readonly attributes: { readonly repository: Buffer; readonly user: Buffer };
  /** What agents could have changed of all this, and whether the operator confirmed it. */
  readonly shape: Shape;
  /** Changes whenever files could come out differently for it. */
  readonly digest: string;
}

/**
 * What the repository itself says about how files look, besides its tracked files: `info/attributes`, and settings in its
 * configuration. Agents can write both, and a gate that sees other files than those that land proves nothing.
 */
export interface Shape {
  /** As it is confirmed. */
  readonly name: string;
  /** The key of its pin: the git directory, from that of the project. */
  readonly key: string;
  /** Where to look at it. */
  readonly files: readonly string[];
  /** Null: it says nothing. */
  readonly digest: string | null;
  readonly standing: "none" | "confirmed" | "unconfirmed" | "changed";
}

/**
 * Reads which filters count. Attributes are data and count wherever they stand; a filter is a program, and counts only
 * where the user's or the system's own configuration defines it, or the operator confirmed it.
 */
export async function fileRules(repository: Repository): Promise<FileRules> {
  const seen = settingsStamp(repository);
  const before = known.get(repository);
  if (before !== undefined && before.seen === seen && performance.now() - before.at < freshMs) return before.rules;
  const rules = read(repository);
  known.set(repository, { seen, at: performance.now(), rules });
  // The next one to ask tries again; this one hears of it.
  rules.catch(() => known.delete(repository));
  return rules;
}

const known = new WeakMap<Repository, { seen: string; at: number; rules: Promise<FileRules> }>();
/** The user's own configuration is seldom written; that of the repository is looked at each time. */
const freshMs = 1_000;

/** Changes when anything of the repository that decides which programs run was written. */
export function settingsStamp({ commonDir, gitDir, trust }: Repository): string {
  const files = [join(commonDir, "config"), join(gitDir, "config.worktree"), join(commonDir, "info", "attributes")];
  return [...files, trust].map((path) => stampOf(path)).join(" ");
}

function stampOf(path: string): string {
  const { mtimeMs = 0, ctimeMs = 0, size = 0, ino = 0 } = statIfThere(path) ?? {};
  return `${mtimeMs}/${ctimeMs}/${size}/${ino}`;
}

async function read(repository: Repository): Promise<FileRules> {
  const { commonDir, plainSettings } = repository;
  const [found, typed] = await Promise.all([
    settingsMatching(repository, "^((filter|lfs|remote)\\.|core\\.(autocrlf|eol|symlinks|ignorecase)$)"),
    // Read as a path: it may begin with a tilde.
    settingsMatching(repository, "^core\\.attributesfile$", "--type=path"),
  ]);
  const attributesFile = typed.at(-1)?.value ?? join(configHome(), "git", "attributes");
  const ofRepositorys = join(commonDir, "info", "attributes");
  const [attributes, system] = [
    { repository: bytesOf(ofRepositorys), user: bytesOf(attributesFile) },
    bytesOf(systemAttributes),
  ];
  const elsewhere = [attributes.repository, attributes.user, system];
  const settings = found.flatMap(({ key, value, isUsers }) => {
    const parts = /^filter\.(.*)\.([^.]+)$/s.exec(key);
    if (parts === null) return [];
    const [, name = "", what = ""] = parts;
    return [{ name, key: what, value, isUsers } satisfies FilterSetting];
  });
  const filters = judgeFilters(settings, readTrust(repository.trust).filters, elsewhere.flatMap(namesInBytes));
  const ofRepository = found.filter(({ isUsers }) => !isUsers);
  const form = Object.entries(formDefaults).map(([key, value]) => `${key}=${lastOf(found, key) ?? value}`);
  const isRepositorys = typed.at(-1)?.isUsers === false;
  const shape = shapeOf(repository, {
    attributes: attributes.repository,
    more: isRepositorys ? attributes.user : Buffer.alloc(0),
    settings: changedForm(found),
    files: [ofRepositorys, ...(isRepositorys ? [attributesFile] : []), join(commonDir, "config")],
  });
  const data = [...filters.filter(isHonoured).flatMap(filterSettings), ...dataSettings(repository, ofRepository)];
  const hash = new Bun.CryptoHasher("sha256").update(JSON.stringify([data, form, plainSettings]));
  for (const bytes of elsewhere) hash.update(`\0${bytes.length}\0`).update(bytes);
  return { filters, settings: data, form, attributes, shape, digest: hash.digest("hex").slice(0, 16) };
}

/** The settings that decide how files look when they are written, with what git takes where there is none. */
const formDefaults = {
  "core.autocrlf": "false",
  "core.eol": "native",
  "core.symlinks": "true",
  "core.ignorecase": "false",
} as const;

const lastOf = (settings: readonly Setting[], key: string): string | undefined =>
  settings.findLast((setting) => setting.key === key)?.value;

/** Those that the repository makes other than they are for its user. */
const changedForm = (found: readonly Setting[]): readonly string[] =>
  Object.entries(formDefaults).flatMap(([key, value]) => {
    const now = lastOf(found, key) ?? value;
    const users = found.filter(({ isUsers }) => isUsers);
    return now === (lastOf(users, key) ?? value) ? [] : [`${key}=${now}`];
  });

interface ShapeParts {
  /** Of `info/attributes`. */
  readonly attributes: Buffer;
  /** Of the attribute file that the repository's configuration names in place of the user's. */
  readonly more: Buffer;
  readonly settings: readonly string[];
  readonly files: readonly string[];
}

function shapeOf({ commonDir, trust }: Repository, { attributes, more, settings, files }: ShapeParts): Shape {
  const rules = [attributes, more].map(rulesIn);
  const parts = [...rules, ...settings];
  const digest = parts.every((part) => part === "")
    ? null
    : new Bun.CryptoHasher("sha256").update(JSON.stringify([rules, settings])).digest("hex");
  const key = relative(dirname(dirname(trust)), commonDir) || ".";
  const pin = readTrust(trust).attributes[key];
  const expected = pin ?? "";
  const standing = digest === null && expected === "" ? "none" : (digest ?? "") === expected ? "confirmed" : undefined;
  return {
    name: key === "." ? "git:attributes" : `git:attributes:${key}`,
    key,
    files: files.filter((path) => existsSync(path)),
    digest,
    standing: standing ?? (pin === undefined ? "unconfirmed" : "changed"),
  };
}

/** Without what says nothing. */
const rulesIn = (bytes: Buffer): string =>
  bytes
    .toString("latin1")
    .split("\n")
    .filter((line) => !/^[ \t\r]*(#|$)/.test(line))
    .join("\n");

const configHome = (): string => process.env.XDG_CONFIG_HOME ?? join(homedir(), ".config");

const systemAttributes = "/etc/gitattributes";

interface Setting {
  readonly key: string;
  readonly value: string;
  /** From a file of the user's or the system's. */
  readonly isUsers: boolean;
}

/** The settings whose names match, from every file git reads here, in git's order. Ours of each call are not among them. */
export async function settingsMatching(
  repository: Repository,
  names: string,
  ...more: string[]
): Promise<readonly Setting[]> {
  const args = ["config", "-z", "--show-scope", "--show-origin", ...more, "--get-regexp", names];
  const answer = await runGit({ cwd: repository.root, args, env: directly(repository) });
  // One: there is no such setting at all.
  const parts = answer.code === 1 ? [] : expectGit(answer, "reading git's configuration").out.split("\0");
  const settings: Setting[] = [];
  for (let at = 0; at + 2 < parts.length; at += 3) {
    const [scope = "", origin = "", entry = ""] = parts.slice(at, at + 3);
    const end = entry.indexOf("\n");
    // A key without a value is true.
    const [key, value] = end < 0 ? [entry, "true"] : [entry.slice(0, end), entry.slice(end + 1)];
    if (scope !== "command") settings.push({ key, value, isUsers: isUsers(repository, scope, origin) });
  }
  return settings;
}

/** A submodule's configuration may name a work tree that is not there at the moment, and git would give up over that. */
const directly = ({ gitDir }: Repository) => ({ GIT_DIR: gitDir, GIT_WORK_TREE: gitDir });

/** A file that the user's configuration includes but that lies in the repository can be written by agents. */
function isUsers({ root, commonDir }: Repository, scope: string, origin: string): boolean {
  const file = origin.startsWith("file:") ? origin.slice("file:".length) : "";
  if ((scope !== "global" && scope !== "system") || !existsSync(file)) return false;
  const real = realpathSync(file);
  return ![root, commonDir].some((dir) => real.startsWith(`${realpathSync(dir)}/`));
}

/** A filter as configuration. */
export const filterSettings = ({ name, definition }: Filter): readonly (readonly [string, string])[] =>
  filterKeys.flatMap((key) => {
    const value = definition?.[key] ?? null;
    return value === null ? [] : [[`filter.${name}.${key}`, value] as const];
  });

/**
 * Where Git LFS finds its objects, here and elsewhere. Our git directory is not the repository's, so it would look in
 * the wrong place; and of the repository's own settings only those are passed on that name no program.
 */
function dataSettings({ commonDir }: Repository, own: readonly Setting[]): readonly (readonly [string, string])[] {
  const plain = own.filter(({ key }) => lfsData.test(key)).map(({ key, value }) => [key, value] as const);
  const storage = own.findLast(({ key }) => key === "lfs.storage")?.value ?? "lfs";
  return [...plain, ["lfs.storage", resolve(commonDir, storage)]];
}

const lfsData =
  /^(remote\..+\.(url|lfsurl)|remote\.lfsdefault|lfs\.(url|fetchinclude|fetchexclude|basictransfersonly|skipdownloaderrors|repositoryformatversion|.+\.(access|locksverify)))$/;

const namesIn = (path: string): readonly string[] => namesInBytes(bytesOf(path));
const namesInBytes = (bytes: Buffer): readonly string[] => filtersNamedIn(bytes.toString());

/** Small regular files only: a pipe in its place would hold us for ever. */
function bytesOf(path: string): Buffer {
  const stat = lstatIfThere(path);
  const isText = stat?.isSymbolicLink() === true ? statIfThere(path)?.isFile() : stat?.isFile();
  return isText === true && (stat?.size ?? 0) < largestText ? readFileSync(path) : Buffer.alloc(0);
}

const largestText = 1024 * 1024;

/** The rules, where everything that the files of a commit need can be used. Throws `filters-not-ready` where not. */
export async function rulesFor(repository: Repository, commit: string): Promise<FileRules> {
  const [rules, problems] = await Promise.all([fileRules(repository), problemsWith(repository, commit)]);
  if (problems.length > 0) throw new Failure({ kind: "filters-not-ready", filters: problems });
  return rules;
}

/** What of the filters that a commit needs cannot be used. */
export async function problemsWith(repository: Repository, commit: string): Promise<readonly FilterProblem[]> {
  const [{ attributes, shape }, { filters, needed }] = await Promise.all([
    fileRules(repository),
    filtersAt(repository, commit),
  ]);
  const byUser = [...namesInBytes(attributes.user), ...namesIn(systemAttributes)];
  const unusable = filterProblems(filters, { byRepository: needed, byUser });
  const used = filters.filter((filter) => isHonoured(filter) && needed.includes(filter.name));
  const programs = await Promise.all(used.map((filter) => withoutProgram(repository.root, filter)));
  const { name, standing, files } = shape;
  const look = files.join(" ");
  const reshaped: readonly FilterProblem[] =
    standing === "unconfirmed" || standing === "changed" ? [{ name, problem: "other-attributes", command: look }] : [];
  return [...reshaped, ...unusable, ...programs.flat()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** Every filter there is, and the names of those that the repository's own attributes give to files of a commit. */
export async function filtersAt(
  repository: Repository,
  commit: string | undefined,
): Promise<{ readonly filters: readonly Filter[]; readonly needed: readonly string[] }> {
  const [{ filters }, tracked] = await Promise.all([
    fileRules(repository),
    commit === undefined ? [] : namedByFiles(repository, commit),
  ]);
  const needed = [...new Set([...tracked, ...namesIn(join(repository.commonDir, "info", "attributes"))])];
  const undefinedOnes = needed.filter((name) => !filters.some((filter) => filter.name === name));
  return { filters: [...filters, ...judgeFilters([], readTrust(repository.trust).filters, undefinedOnes)], needed };
}

/**
 * Could files of the checkout need a filter? One process, for the commands that start an agent: what it overlooks is
 * refused when the agent's worktree is made.
 */
export async function mayNeedFilters(root: string): Promise<boolean> {
  const listed = await git(root, "ls-files", "-z", "--", ".gitattributes", "*/.gitattributes");
  const tracked = zeroEnded(listed.raw).map((path) => join(root, path.toString()));
  const files = [join(commonDirAt(root) ?? root, "info", "attributes"), ...tracked];
  return files.some((path) => namesIn(path).length > 0);
}

/** The names in the tracked attribute files of a commit. */
async function namedByFiles(repository: Repository, commit: string): Promise<readonly string[]> {
  const before = byCommit.get(commit);
  if (before !== undefined) return before;
  const oids: string[] = [];
  expectGit(
    await runGit({
      cwd: repository.root,
      args: ["ls-tree", "-r", "-z", "--full-tree", "--end-of-options", commit],
      env: directly(repository),
      each: (line) => {
        if (!line.subarray(-attributesName.length).equals(attributesName)) return;
        const [before = "", path = ""] = line.toString("latin1").split("\t");
        if (/(^|\/)\.gitattributes$/.test(path)) oids.push(before.split(" ")[2] ?? "");
      },
    }),
    `listing the files of ${commit}`,
  );
  const names = oids.length === 0 ? [] : filtersNamedIn(await contents(repository, oids));
  byCommit.set(commit, names);
  const [oldest] = byCommit.keys();
  if (byCommit.size > mostCommits && oldest !== undefined) byCommit.delete(oldest);
  return names;
}

const attributesName = Buffer.from(".gitattributes");
const byCommit = new Map<string, readonly string[]>();
const mostCommits = 1_000;

/** All of them in one text; a line that says how long each is looks like no rule. */
async function contents(repository: Repository, oids: readonly string[]): Promise<string> {
  const stdin = oids.map((oid) => `${oid}\n`).join("");
  const call = { cwd: repository.root, args: ["cat-file", "--batch"], env: directly(repository), stdin };
  return expectGit(await runGit(call), "reading attributes").out;
}

/** Whether the first word of its command is a program can be told of simple words only. */
async function withoutProgram(root: string, { name, definition }: Filter): Promise<readonly FilterProblem[]> {
  const command = definition === null ? "" : commandOf(definition);
  const [word = ""] = command.trim().split(/\s+/);
  if (!/^[\w./+-]+$/.test(word)) return [];
  const child = Bun.spawn({
    cmd: ["/bin/sh", "-c", 'command -v "$1"', "sh", word],
    cwd: root,
    env: { PATH: process.env.PATH ?? "" },
    stdio: ["ignore", "ignore", "ignore"],
  });
  return (await child.exited) === 0 ? [] : [{ name, problem: "no-program", command }];
}

/** Directories that programs such as git-crypt keep beside git's own; git itself does not look into them. */
export const isForeignDirectory = (name: string): boolean => !gitsOwn.test(name);
const gitsOwn =
  /^(branches|hooks|info|logs|modules|objects|refs|reftable|worktrees|ov-state|rr-cache|rebase-.*|sequencer|fsmonitor.*|NOTES_MERGE.*|.*\.lock)$/;
