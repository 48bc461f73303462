import { realpathSync } from "node:fs";
import { isAbsolute, join, relative } from "node:path";
import type { Footprint } from "../../ports/runtime.ts";
import { ifThere, lstatIfThere } from "../file-access.ts";
import { isIn, type Mount } from "./profile.ts";

type Variables = Readonly<Record<string, string | undefined>>;

/** Where a file of a vendor's program is, given its usual path below the home: variables of a person's shell may move it. */
export function placeOf(usual: string, home: string, { moves }: Pick<Footprint, "moves">, shell: Variables): string {
  const [nearest] = movedPaths(moves, shell)
    .filter((moved) => isIn(usual, moved.usual))
    .sort((one, other) => other.usual.length - one.usual.length);
  return nearest === undefined ? join(home, usual) : join(nearest.at, relative(nearest.usual, usual));
}

interface MovedPath {
  /** Its usual path below the home. */
  readonly usual: string;
  readonly at: string;
}

const movedPaths = (moves: Footprint["moves"], shell: Variables): readonly MovedPath[] =>
  Object.entries(moves).flatMap(([variable, paths]) => {
    const base = shell[variable];
    if (base === undefined || !isAbsolute(base)) return [];
    return Object.entries(paths).map(([usual, below]) => ({ usual, at: join(base, below) }));
  });

export interface VendorTerms {
  readonly footprints: readonly Footprint[];
  readonly home: string;
  readonly root: string;
  /** The shells from which agents were started. */
  readonly shells: readonly Variables[];
  /** Paths that the settings list: the operator wants agents to see them. */
  readonly shown: readonly string[];
}

export interface HiddenVendorFiles {
  /** Paths below the home. */
  readonly inHome: readonly string[];
  /** The same outside of the home. They come before the mounts of home and project, which may lie below one of them. */
  readonly before: readonly Mount[];
  /** The same in the project, which come after its mount. */
  readonly inProject: readonly Mount[];
  /** All of them that variables or links put elsewhere. */
  readonly paths: readonly string[];
}

/** Everything that vendors' programs keep for their person: settings, logins, conversations. Each confined agent has its own. */
export function hiddenVendorFiles({ footprints, home, root, shells, shown }: VendorTerms): HiddenVendorFiles {
  const usual = footprints.flatMap(({ keeps, brings }) => [...keeps, ...brings]);
  const kept = usual.map((path) => join(home, path));
  const moved = footprints.flatMap(({ moves }) =>
    shells.flatMap((shell) => movedPaths(moves, shell).map(({ at }) => at)),
  );
  const files = footprints.flatMap((footprint) =>
    shells.flatMap((shell) => footprint.brings.map((path) => placeOf(path, home, footprint, shell))),
  );
  const named = [...moved, ...files, ...readBy(footprints, shells)];
  // What a link leads to would be seen by its own path.
  const real = [...kept, ...named].flatMap((path) => ifThere(() => realpathSync(path)) ?? []);
  const all = [...new Set([...named, ...real])]
    // Of a directory that holds the home, or is the project, only the files that are named are hidden.
    .filter((path) => !isIn(home, path) && path !== root)
    .filter((path) => !shown.some((other) => isIn(path, other)));
  const inHome = all.filter((path) => isIn(path, home)).map((path) => relative(home, path));
  return {
    inHome: [...new Set([...usual, ...inHome])],
    before: all.filter((path) => !isIn(path, home)).flatMap(emptied),
    inProject: all.filter((path) => isIn(path, root)).flatMap(emptied),
    paths: all,
  };
}

const readBy = (footprints: readonly Footprint[], shells: readonly Variables[]): readonly string[] =>
  footprints.flatMap(({ reads }) =>
    shells.flatMap((shell) => reads.flatMap((name) => (isAbsolute(shell[name] ?? "") ? [shell[name] ?? ""] : []))),
  );

/** Nothing is seen at this path; a path through a link is hidden where the link leads. */
function emptied(at: string): readonly Mount[] {
  const stat = lstatIfThere(at);
  if (stat?.isDirectory()) return [{ kind: "empty", at }];
  return stat?.isFile() ? [{ kind: "nothing", at }] : [];
}

/** The environment of a confined program: its own files are at their usual paths, so nothing moves them. */
export function withoutMoves(
  env: Readonly<Record<string, string>>,
  { moves }: Footprint,
  shell: Variables,
  shown: readonly string[],
): Record<string, string> {
  const isDropped = (name: string, value: string): boolean =>
    // Where our own launch sets such a variable, it stays.
    Object.hasOwn(moves, name) && shell[name] === value && !shown.some((path) => isIn(value, path));
  return Object.fromEntries(Object.entries(env).filter(([name, value]) => !isDropped(name, value)));
}
