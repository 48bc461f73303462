import { readdirSync, readFileSync, realpathSync } from "node:fs";
import { basename, dirname, isAbsolute, join } from "node:path";
import { errorCode, ifThere, lstatIfThere } from "../file-access.ts";
import { isIn, type Mount } from "./profile.ts";

/** Directories of a home that hold programs and their libraries, although their names have no dot. */
const ofPrograms = [
  ...["bin", "go/bin", "go/pkg", "snap", "node_modules", "perl5", "R", "flutter"],
  ...["miniconda3", "anaconda3", "miniforge3", "mambaforge", "micromamba", "Android/Sdk"],
];

/**
 * The directories of a home that its person made: other projects, documents, downloads. Programs keep theirs behind a name
 * with a dot. Names below the home.
 */
export const personalDirs = (home: string): readonly string[] =>
  (ifThere(() => readdirSync(home)) ?? []).filter(
    (name) => !name.startsWith(".") && lstatIfThere(join(home, name))?.isDirectory() === true,
  );

export interface NeededTerms {
  readonly home: string;
  readonly env: Readonly<Record<string, string>>;
  /** Files of vendors' programs, which stay hidden. */
  readonly hidden: readonly string[];
  /** Directories that must not be shown by showing a directory above them. */
  readonly closed: readonly string[];
}

/**
 * What programs need of those directories: known places, those on the path with the installation around them, those that a
 * variable of the agent names, such as `GOPATH` or `JAVA_HOME`, and what settings in the home lead to by links.
 */
export function neededOfPersonal({ home, env, hidden, closed }: NeededTerms): readonly string[] {
  const { PATH = "", PWD: _here, OLDPWD: _before, ...others } = env;
  const onPath = PATH.split(":").flatMap((dir) => [dir, ...(programDirs.test(basename(dir)) ? [dirname(dir)] : [])]);
  const named = Object.values(others).flatMap((value) => value.split(":"));
  const known = ofPrograms.map((name) => join(home, name));
  const personal = personalDirs(home).map((name) => join(home, name));
  const isOpen = (path: string): boolean =>
    personal.some((dir) => isIn(path, dir)) &&
    ![...hidden, ...closed].some((place) => isIn(place, path)) &&
    !hidden.some((place) => isIn(path, place)) &&
    lstatIfThere(path) !== undefined;
  return [...new Set([...known, ...onPath, ...named, ...linkedSettings(home)])].filter(
    (path) => isAbsolute(path) && isOpen(path),
  );
}

const programDirs = /^s?bin$|^shims$/;

/** People keep settings in a repository of their own, with links to them in their home. */
const linkedSettings = (home: string): readonly string[] =>
  (ifThere(() => readdirSync(home)) ?? [])
    .filter((name) => name.startsWith(".") && lstatIfThere(join(home, name))?.isSymbolicLink() === true)
    .flatMap((name) => ifThere(() => realpathSync(join(home, name))) ?? []);

/**
 * State directories of other projects: they hold the mail of their agents and variables of the shells in which those were
 * started. Found beside the project, and by the sockets of engines that run now.
 */
export function otherStates(root: string, state: string): readonly Mount[] {
  const around = dirname(root);
  const beside = (ifThere(() => readdirSync(around)) ?? []).map((name) => join(around, name, ".git", basename(state)));
  const sockets = (ifThere(() => readFileSync("/proc/net/unix", "utf8")) ?? "").split("\n");
  const listening = sockets.flatMap((line) => {
    const [, dir] = new RegExp(`^(?:\\S+\\s+){7}(/.*/${basename(state)})/`).exec(line) ?? [];
    return dir === undefined ? [] : [dir];
  });
  return [...new Set([...beside, ...listening])]
    .filter((at) => at !== state && isOpenDirectory(at))
    .map((at): Mount => ({ kind: "empty", at }));
}

function isOpenDirectory(path: string): boolean {
  try {
    return lstatIfThere(path)?.isDirectory() === true;
  } catch (error) {
    // What we may not even look at, no agent may either. Any user of the machine can make such a path.
    if (errorCode(error) === "EACCES") return false;
    throw error;
  }
}
