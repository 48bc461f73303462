import { closeSync, openSync, readlinkSync, readSync, realpathSync } from "node:fs";
import { basename, dirname, isAbsolute, join, resolve } from "node:path";
import { ifThere, lstatIfThere } from "../file-access.ts";
import { isIn } from "./profile.ts";

export interface ProgramTerms {
  readonly path: string;
  /** Directories in which a confined program finds nothing. */
  readonly hidden: readonly string[];
  /** Directories that must not be shown by showing a directory above them. */
  readonly closed: readonly string[];
}

/** Paths that a confined process must see to start this program, where they lie in hidden directories. */
export function programFiles(program: string, terms: ProgramTerms): readonly string[] {
  const names = withInterpreter(program, terms.path);
  return [...new Set(names.flatMap((at) => wayTo(at)).flatMap((path) => shownFor(path, terms)))];
}

/** The file of the program, and of the program that reads it, where it is a script. */
function withInterpreter(program: string, path: string): readonly string[] {
  const at = isAbsolute(program) ? program : Bun.which(program, { PATH: path });
  if (at === null) return [];
  const [, interpreter = "", word = ""] = /^#!\s*(\S+)(?:[ \t]+(?:-S[ \t]+)?(\S+))?/.exec(firstBytes(at)) ?? [];
  if (!isAbsolute(interpreter)) return [at];
  const named = basename(interpreter) === "env" ? Bun.which(word, { PATH: path }) : null;
  return [at, interpreter, ...(named === null ? [] : [named])];
}

function firstBytes(at: string): string {
  const bytes = Buffer.alloc(256);
  const file = ifThere(() => openSync(at, "r"));
  if (file === undefined) return "";
  try {
    return bytes.toString("latin1", 0, readSync(file, bytes, 0, bytes.length, 0));
  } finally {
    closeSync(file);
  }
}

/** No system follows more links. */
const mostLinks = 40;

/** The path and every path that links on it lead to. */
function wayTo(path: string): readonly string[] {
  const way: string[] = [];
  for (let at = path, left = mostLinks; left > 0; left--) {
    const dir = ifThere(() => realpathSync(dirname(at)));
    if (dir === undefined) break;
    const real = join(dir, basename(at));
    way.push(at, real);
    if (lstatIfThere(real)?.isSymbolicLink() !== true) break;
    at = resolve(dir, readlinkSync(real));
  }
  return way;
}

/** Directories with programs, beside which their installation lies. */
const programDirs = ["bin", "shims", "sbin"];

/** The shown paths of an installation: as many as the program may need, and none that is hidden for a reason. */
function shownFor(path: string, { hidden, closed }: ProgramTerms): readonly string[] {
  const places = hidden.filter((place) => isIn(path, place));
  if (places.length === 0) return [];
  const dir = dirname(path);
  const modules = path.indexOf("/node_modules/");
  const candidates = [
    ...(modules < 0 ? [] : [path.slice(0, modules + "/node_modules".length)]),
    ...(programDirs.includes(basename(dir)) ? [dirname(dir)] : []),
    dir,
  ];
  const isOpen = (candidate: string): boolean => ![...hidden, ...closed].some((place) => isIn(place, candidate));
  return [candidates.find(isOpen) ?? path];
}
